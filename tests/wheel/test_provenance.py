from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from musakit.files import sha256_of
from musakit.process import public_url
from musakit.upstream.pin import GitSource, MirrorSource
from musakit.wheel.provenance import format_provenance
from tests.wheel.conftest import EDITS, LOCK, VLLM

if TYPE_CHECKING:
    from musakit.wheel.plan import WheelPlan


def provenance(plan: WheelPlan) -> dict[str, Any]:
    document = json.loads(format_provenance(plan))
    assert isinstance(document, dict)
    return document


def test_every_patched_file_has_its_digest(plans: tuple[WheelPlan, ...]) -> None:
    edits = EDITS["vllm"]
    assert provenance(plans[0])["files"] == {
        "tests/test_a.py": None,
        "vllm/added.py": sha256_of(edits["vllm/added.py"] or b""),
        "vllm/cli.py": sha256_of(edits["vllm/cli.py"] or b""),
    }
    assert VLLM["vllm/cli.py"] != edits["vllm/cli.py"]


def test_pins_lock_and_patches_are_told(plans: tuple[WheelPlan, ...]) -> None:
    document = provenance(plans[1])
    patch = plans[1].tree.patches[0]
    assert document["schema"] == 1
    assert document["lock"] == LOCK
    assert (document["name"], document["version"]) == ("vllm-musa", "0.1.1+musa1")
    assert document["pins"]["vllm"] == {
        "version": "0.20.2",
        "sources": [{"sdist": "12" * 32}],
        "pristine": plans[0].tree.pristine,
        "patched": plans[0].tree.patched,
    }
    assert document["patches"] == [
        {
            "name": "vllm-musa-all.patch",
            "sha256": patch.sha256,
            "subject": "Change vllm-musa",
            "trailers": [["Subject-Area", "dummy-run"], ["Reason", "the drafter needs it"]],
        }
    ]
    assert document["requirements"] == [
        {"name": "torch", "replacement": None, "reason": "comes with the machine"}
    ]


def test_nothing_of_this_machine_is_told(plans: tuple[WheelPlan, ...]) -> None:
    plan = plans[0]
    git = GitSource("https://me:secret@example.org/vllm.git", "0" * 40)
    pin = plan.upstream.pin._replace(sources=(MirrorSource(Path("/home/me/vllm")), git))
    upstream = plan.upstream._replace(pin=pin)
    plan = replace(plan, upstream=upstream, target=plan.target._replace(upstreams=(upstream,)))
    assert provenance(plan)["pins"]["vllm"]["sources"] == [
        {"git": "https://example.org/vllm.git", "commit": "0" * 40}
    ]


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://example.org/a.git", "https://example.org/a.git"),
        ("https://token@example.org:8443/a.git", "https://example.org:8443/a.git"),
        ("ssh://git@example.org/a.git", "ssh://example.org/a.git"),
        ("git@example.org:a.git", "git@example.org:a.git"),
    ],
)
def test_public_url(url: str, public: str) -> None:
    assert public_url(url) == public
