"""Protocols: what raters are asked, and what counts as an answer.

A protocol describes the page's questions (:meth:`~assay.campaign.protocols.base.Protocol.wire`)
and checks the answers. It knows neither systems nor raters.
"""

from __future__ import annotations

from dataclasses import replace

from assay.campaign.protocols.base import Protocol
from assay.campaign.protocols.kinds import (
    DA,
    ESA,
    MQM,
    SQM,
    XSTS,
    PairwiseProtocol,
    PostEdit,
    RankingProtocol,
    ScaleProtocol,
    make_taxonomy,
)
from assay.errors import InputError
from assay.project.settings import Settings

RANGES = {"da": DA, "sqm": SQM, "xsts": XSTS}


def make_protocol(settings: Settings) -> Protocol:
    """The protocol that the settings ask for.

    >>> make_protocol(Settings(protocol="esa")).wire()["severities"]
    [{'name': 'minor', 'key': '1'}, {'name': 'major', 'key': '2'}]
    """
    protocol = _make(settings)
    if settings.better is not None:
        protocol = replace(protocol, better=settings.better)
    return protocol if settings.range is None else replace(protocol, range=settings.range)


def _make(settings: Settings) -> Protocol:
    name = settings.protocol
    if name is None:
        raise InputError('the plan has no protocol; give one, such as protocol = "esa"')
    if name == "pairwise":
        return PairwiseProtocol()
    if name == "ranking":
        return RankingProtocol()
    if name == "post-edit":
        return PostEdit(better="lower", editing=settings.screen.editing)
    if name == "mqm":
        taxonomy = make_taxonomy(settings.categories, settings.severities, settings.weights)
        cap = taxonomy.weights.cap
        limits = None if cap is None else (0.0, cap)
        return MQM("lower", limits, taxonomy.severities, taxonomy.categories, taxonomy.weights)
    scales = settings.scales or (RANGES.get(name, DA),)
    limits = (scales[0].low, scales[0].high) if len(scales) == 1 else None
    if name == "esa":
        severities = tuple(severity.name for severity in settings.severities)
        esa = ESA(range=limits, scales=scales)
        return replace(esa, severities=severities) if severities else esa
    return ScaleProtocol(range=limits, scales=scales)
