from __future__ import annotations

import base64
import json
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from musakit.wheel.provenance import PatchRecord
from musakit.wheel.sbom import format_sbom

if TYPE_CHECKING:
    from musakit.wheel.plan import WheelPlan


def sbom(plan: WheelPlan) -> dict[str, Any]:
    document = json.loads(format_sbom(plan))
    assert isinstance(document, dict)
    return document


def with_patches(plan: WheelPlan, patches: tuple[PatchRecord, ...]) -> WheelPlan:
    trees = {**plan.trees, plan.upstream.name: plan.tree._replace(patches=patches)}
    return replace(plan, trees=trees)


def test_the_component_is_the_wheel(plans: tuple[WheelPlan, ...]) -> None:
    document = sbom(plans[0])
    component = document["metadata"]["component"]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert component["purl"] == "pkg:pypi/vllm@0.20.2%2Bmusa1"
    assert component["licenses"] == [{"expression": "Apache-2.0"}]
    ancestor = component["pedigree"]["ancestors"][0]
    assert ancestor["purl"] == "pkg:pypi/vllm@0.20.2"
    assert ancestor["hashes"] == [{"alg": "SHA-256", "content": "12" * 32}]


def test_patches_keep_the_order_of_the_series(plans: tuple[WheelPlan, ...]) -> None:
    patches = tuple(
        PatchRecord(
            f"{name}.patch", "00" * 32, f"Do {name}", (), f"--- {name}\n\xff".encode("latin-1")
        )
        for name in ("zeta", "alpha", "mid")
    )
    found = sbom(with_patches(plans[0], patches))["metadata"]["component"]["pedigree"]["patches"]
    assert [patch["resolves"][0]["id"] for patch in found] == [
        "zeta.patch",
        "alpha.patch",
        "mid.patch",
    ]
    assert [base64.b64decode(patch["diff"]["text"]["content"]) for patch in found] == [
        patch.diff for patch in patches
    ]


def test_an_empty_series_has_no_patches(plans: tuple[WheelPlan, ...]) -> None:
    assert "patches" not in sbom(with_patches(plans[0], ()))["metadata"]["component"]["pedigree"]


def test_bytes_come_from_the_lock(plans: tuple[WheelPlan, ...]) -> None:
    assert format_sbom(plans[0]) == format_sbom(plans[0])
    other = sbom(replace(plans[0], lock="cd" * 32))
    assert other["serialNumber"] != sbom(plans[0])["serialNumber"]


def test_it_is_valid(plans: tuple[WheelPlan, ...]) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the library's own use of jsonschema
        problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(
            format_sbom(plans[0]).decode()
        )
    assert problem is None
