"""Settings that are valid one by one but contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from assay.errors import did_you_mean
from assay.project.settings import Settings

SCALES = ("da", "sqm", "xsts", "scale")
MARKED = ("esa", "mqm")
"""The protocols whose answers are ratings alone, and those with marked errors."""

PRESETS = {"da": (0.0, 100.0), "sqm": (0.0, 6.0), "xsts": (1.0, 5.0), "esa": (0.0, 100.0)}
"""The usual range of a protocol's scores."""

Fault = tuple[str, object, str]
"""The key, its value, and what is wrong with it."""


def contradictions(settings: Settings, said: Mapping[str, Any]) -> Iterator[Fault]:
    """The settings that contradict others; ``said`` is what the file itself says."""
    yield from _of_columns(settings)
    yield from _of_protocol(settings)
    yield from _of_raters(settings, said)
    yield from _of_stop(settings, said)
    prices = [
        f"pay.{name}"
        for name in ("per_rating", "per_task", "per_hour")
        if getattr(settings.pay, name) is not None
    ]
    for other in prices[1:]:
        price = getattr(settings.pay, other.removeprefix("pay."))
        yield other, price, f"and {prices[0]} are two prices; keep one of them"


def _of_columns(settings: Settings) -> Iterator[Fault]:
    from assay.tables.schemas import RESERVED

    for name, user in settings.columns.items():
        if name not in RESERVED:
            close = did_you_mean(name, sorted(RESERVED))
            remedy = "write Assay's name first, yours second"
            yield f"columns.{name}", user, f"is not one of Assay's columns{close}; {remedy}"
    metrics = settings.metrics
    for place, name in enumerate(settings.lower_metrics):
        if metrics is not None and name not in metrics:
            close = did_you_mean(name, metrics)
            yield f"lower_metrics[{place}]", name, f"is not among the metrics{close}; name it there"
    if settings.range is not None and settings.range[0] >= settings.range[1]:
        yield "range", settings.range, "is empty; write the lowest rating first"


def _of_protocol(settings: Settings) -> Iterator[Fault]:
    protocol = settings.protocol
    for place, scale in enumerate(settings.scales):
        key = f"scales[{place}]"
        if scale.low >= scale.high:
            yield f"{key}.low", scale.low, f"is not below high ({scale.high:g}); swap them"
        elif scale.step > scale.high - scale.low:
            yield f"{key}.step", scale.step, "is longer than the scale; make it smaller"
    yield from _twice("scales", [scale.name for scale in settings.scales])
    yield from _twice("severities", [severity.name for severity in settings.severities])
    yield from _twice("categories", list(settings.categories))
    if protocol is None:
        return
    if settings.scales and protocol not in SCALES:
        yield "scales", len(settings.scales), _without("scales", protocol, "scale")
    for name in ("severities", "categories", "weights"):
        value = getattr(settings, name)
        if value and protocol not in MARKED:
            yield name, len(value), _without(name, protocol, "mqm")
    for name in ("share", "repeats", "qualify", "tutorial", "block_after"):
        value = getattr(settings.checks, name)
        if value is not None and protocol not in (*SCALES, *MARKED):
            fault = f'needs scores, and protocol "{protocol}" asks for none; leave it out'
            yield f"checks.{name}", value, fault
    if settings.screen.outputs > 1 and protocol == "post-edit":
        fault = "shows several outputs, and one is edited at a time; leave it out"
        yield "screen.outputs", settings.screen.outputs, fault


def _without(name: str, protocol: str, other: str) -> str:
    return f'has no effect with protocol = "{protocol}"; leave it out, or write "{other}" there'


def _twice(key: str, names: list[str]) -> Iterator[Fault]:
    for place, name in enumerate(names):
        if name in names[:place]:
            yield f"{key}[{place}]", name, "is listed twice; name each once"


def _of_raters(settings: Settings, said: Mapping[str, Any]) -> Iterator[Fault]:
    raters = settings.raters
    yield from _twice("raters.names", list(raters.names))
    if raters.names and "number" in said["raters"] and raters.number != len(raters.names):
        fault = f"contradicts the {len(raters.names)} names; leave it out"
        yield "raters.number", raters.number, fault
    people = len(raters.names) or raters.number
    if raters.per_task > people and "raters" in said:
        fault = f"is more than the {people} raters; give fewer, or name more raters"
        yield "raters.per_task", raters.per_task, fault


def _of_stop(settings: Settings, said: Mapping[str, Any]) -> Iterator[Fault]:
    stop = settings.stop
    if stop.goal == "score" and stop.target is None:
        fault = "needs the half-width that is wanted; give stop.target such as 1.5"
        yield "stop.goal", stop.goal, fault
    if stop.goal != "score" and stop.target is not None:
        fault = f'is for the goal "score", and stop.goal is "{stop.goal}"; leave one out'
        yield "stop.target", stop.target, fault
    if stop.rest == "decided" and stop.goal != "ranking":
        fault = f'is for the goal "ranking", and stop.goal is "{stop.goal}"; leave one out'
        yield "stop.rest", stop.rest, fault
    if stop.guarantee and "looks" in said["stop"]:
        yield "stop.looks", stop.looks, "plans looks, and stop.guarantee needs none; keep one"


def better_of(settings: Settings) -> Literal["higher", "lower"] | None:
    """Which scores are better: as said, else by the protocol; errors are counted in MQM."""
    if settings.better is None and settings.protocol in (*SCALES, *MARKED):
        return "lower" if settings.protocol == "mqm" else "higher"
    return settings.better


def range_of(settings: Settings) -> tuple[float, float] | None:
    """The scale of the scores: as said, else by the only scale or by the protocol."""
    if settings.range is None and len(settings.scales) == 1:
        return settings.scales[0].low, settings.scales[0].high
    return settings.range or PRESETS.get(settings.protocol or "")
