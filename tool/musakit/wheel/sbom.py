"""The software bill of materials of a wheel: CycloneDX, in the place that PEP 770 gives it."""

from __future__ import annotations

import base64
import json
import uuid
import warnings
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from musakit.process import public_url
from musakit.upstream.pin import GitSource, SdistSource
from musakit.wheel.provenance import format_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, Patch, Pedigree
    from packageurl import PackageURL

    from musakit.upstream.pin import Upstream
    from musakit.wheel.plan import WheelPlan
    from musakit.wheel.provenance import PatchRecord

SBOM = "sboms/musakit.cdx.json"
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of URLs, RFC 9562
_DATE = datetime(1980, 1, 1, tzinfo=timezone.utc)  # the bytes depend on the lock alone


def format_sbom(plan: WheelPlan) -> bytes:
    """The wheel's component, what it descends from, and each patch with its diff."""
    from cyclonedx.output.json import JsonV1Dot6

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # older releases miss dependencies, which METADATA states
        document = json.loads(JsonV1Dot6(_bom(plan)).output_as_string())
    order = {patch.name: index for index, patch in enumerate(plan.tree.patches)}
    pedigree = document["metadata"]["component"]["pedigree"]
    if "patches" in pedigree:  # the library sorts them by content; a series has an order
        pedigree["patches"].sort(key=lambda patch: order[patch["resolves"][0]["id"]])
    return format_json(document)


def _bom(plan: WheelPlan) -> Bom:
    from cyclonedx.model.bom import Bom, BomMetaData
    from cyclonedx.model.component import Component, ComponentType

    tool = Component(type=ComponentType.APPLICATION, name="musakit", bom_ref="musakit")
    component = _component(plan)
    bom = Bom(
        serial_number=uuid.uuid5(_NAMESPACE, f"musakit:{plan.lock}:{component.purl}"),
        metadata=BomMetaData(timestamp=_DATE, component=component, tools=None),
    )
    bom.metadata.tools.components.add(tool)
    bom.register_dependency(component)
    return bom


def _component(plan: WheelPlan) -> Component:
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.license import LicenseExpression

    metadata = plan.project.metadata
    stated = metadata.license if isinstance(metadata.license, str) else None
    purl = _purl(plan.upstream.name, plan.version)
    return Component(
        type=ComponentType.LIBRARY,
        name=plan.upstream.name,
        version=plan.version,
        description=metadata.description,
        licenses=[LicenseExpression(stated)] if stated else [],
        purl=purl,
        bom_ref=str(purl),
        pedigree=_pedigree(plan),
    )


def _pedigree(plan: WheelPlan) -> Pedigree:
    from cyclonedx.model.component import Pedigree

    return Pedigree(
        ancestors=[_ancestor(plan.upstream)],
        patches=[_patch(patch) for patch in plan.tree.patches],
        notes=f"patched by musakit from the lock {plan.lock} of the target {plan.target.name}",
    )


def _ancestor(upstream: Upstream) -> Component:
    from cyclonedx.model import (
        ExternalReference,
        ExternalReferenceType,
        HashAlgorithm,
        HashType,
        XsUri,
    )
    from cyclonedx.model.component import Component, ComponentType

    sources = upstream.pin.sources
    purl = _purl(upstream.name, upstream.pin.version)
    return Component(
        type=ComponentType.LIBRARY,
        name=upstream.name,
        version=upstream.pin.version,
        purl=purl,
        bom_ref=str(purl),
        hashes=[
            HashType(alg=HashAlgorithm.SHA_256, content=source.sha256)
            for source in sources
            if isinstance(source, SdistSource)
        ],
        external_references=[
            ExternalReference(
                type=ExternalReferenceType.VCS,
                url=XsUri(public_url(source.url)),
                comment=source.commit,
            )
            for source in sources
            if isinstance(source, GitSource)
        ],
    )


def _patch(patch: PatchRecord) -> Patch:
    from cyclonedx.model import AttachedText, Encoding
    from cyclonedx.model.component import Diff, Patch, PatchClassification
    from cyclonedx.model.issue import IssueClassification, IssueType

    text = AttachedText(
        content=base64.b64encode(patch.diff).decode(),
        content_type="text/x-diff",
        encoding=Encoding.BASE_64,
    )
    issue = IssueType(
        type=IssueClassification.ENHANCEMENT,
        id=patch.name,
        name=patch.subject,
        description="\n".join(_reasons(patch.trailers)) or None,
    )
    return Patch(type=PatchClassification.UNOFFICIAL, diff=Diff(text=text), resolves=[issue])


def _reasons(trailers: Iterable[tuple[str, str]]) -> list[str]:
    return [value for key, value in trailers if key.lower() == "reason"]


def _purl(name: str, version: str) -> PackageURL:
    from packageurl import PackageURL

    return PackageURL("pypi", name=name, version=version)
