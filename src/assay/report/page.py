"""One self-contained HTML page from saved results: no script, no external request."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from assay._version import __version__
from assay.errors import InputError
from assay.report.figures import interval_figure
from assay.report.figures_ranking import range_figure
from assay.tables.raw import read_bytes, write_bytes

__all__ = ["read_result", "write_report"]

KINDS = ("estimates", "ranking")


class Result(Protocol):
    """Anything that can say what it found, such as :class:`assay.Estimates`."""

    def to_dict(self) -> dict[str, object]:
        """The JSON object of the result."""
        ...


def write_report(
    results: Result | Mapping[str, Any] | Sequence[Result | Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    title: str = "Evaluation report",
    truth: Mapping[str, float] | None = None,
) -> Path:
    """Write the page from one result or several, or from what ``--json`` saved of them.

    ``truth`` adds the true scores where they are known, as in a simulated campaign.

    >>> import assay, tempfile, pathlib
    >>> world = assay.simulate(documents=20, rng=1)
    >>> result = assay.estimate(world.test_set, world.rate())
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(result, target).name
    'report.html'
    """
    single = isinstance(results, Mapping) or hasattr(results, "to_dict")
    listed: Sequence[Any] = [results] if single else list(results)  # type: ignore[arg-type]
    if not listed:
        raise InputError("there is nothing to report; give at least one saved result")
    plain = [item if isinstance(item, Mapping) else item.to_dict() for item in listed]
    sections = [_section(result, truth) for result in plain]
    page = _template().render(title=title, sections=sections, version=__version__, truth=truth)
    return write_bytes(Path(path), page.encode())


def read_result(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A result that a command saved with ``-o`` or ``--json``."""
    source = Path(path)
    data = read_bytes(source)
    try:
        result = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: is no saved result ({error}); save one with --json") from None
    if not isinstance(result, dict) or "kind" not in result:
        raise InputError(f"{source}: is JSON but no saved result; save one with --json")
    return result


def _section(result: Mapping[str, Any], truth: Mapping[str, float] | None) -> dict[str, Any]:
    kind = result.get("kind")
    if kind not in KINDS:
        raise InputError(
            f"a result of kind '{kind}' cannot be reported; known kinds are {', '.join(KINDS)}"
        )
    _need(
        result,
        {"better": str, "level": float, "method": str, "signature": str, "systems": list,
         "notes": list},
    )  # fmt: skip
    if not result["systems"]:
        raise InputError("the saved result has no systems; write it again with --json")
    placed = {"system": str, "rank": int, "low_rank": int, "high_rank": int, "cluster": int}
    for item in result["systems"]:
        _need(item, placed)
    own = _ranking(result) if kind == "ranking" else _estimates(result, truth)
    return {"seed": None} | dict(result) | own


def _estimates(result: Mapping[str, Any], truth: Mapping[str, float] | None) -> dict[str, Any]:
    """What the page shows of scores on the whole test set."""
    _need(result, {"interval": str, "design": str, "differences": list})
    for item in result["systems"]:
        _need(item, {"estimate": float, "n": int, "population": int})
    for item in result["differences"]:
        _need(item, {"left": str, "right": str, "decided": bool})
    # What may be unknown (a bound, a seed) is null in the file or not there at all.
    empty = {"low": None, "high": None, "difference": None}
    systems = [empty | dict(item) for item in result["systems"]]
    differences = [empty | dict(item) for item in result["differences"]]
    figure = interval_figure(systems, better=result["better"], truth=truth)
    decided = sum(1 for item in differences if item["decided"])
    return {"systems": systems, "differences": differences, "decided": decided, "figure": figure}


def _ranking(result: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of a ranking from judgments or ratings."""
    _need(
        result,
        {"ranges": str, "unit": str, "blocks": int, "sides": int, "holm": bool, "pairs": int,
         "significant_pairs": int, "clusters": int, "comparisons": list},
    )  # fmt: skip
    source = "judgments" if "judgments" in result else "ratings"
    _need(result, {source: int})
    for item in result["systems"]:
        _need(item, {"score": float})
    for item in result["comparisons"]:
        _need(item, {"left": str, "right": str, "p": float, "decided": bool})
    empty = {"wins": None, "losses": None, "ties": None, "better": None}
    return {
        "interval": None, "calibrated": None, "source": source, "number": result[source],
        "figure": range_figure(result["systems"]),
        "open": [empty | dict(item) for item in result["comparisons"] if not item["decided"]],
    } | {key: result[key] for key in ("interval", "calibrated") if key in result}  # fmt: skip


def _need(item: Any, fields: Mapping[str, type]) -> None:
    """Refuse a part of a saved result that is not what a command writes."""
    for name, kind in fields.items():
        value = item.get(name) if isinstance(item, Mapping) else None
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits:
            raise InputError(
                f"the saved result is not complete: {name} is {value!r}, not a {kind.__name__};"
                " write it again with --json"
            )


def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("assay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["thousands"] = "{:,}".format
    return environment.get_template("page.html")


def _number(value: float | None) -> str:
    """Three decimals; a dash where nothing is known."""
    return "–" if value is None else f"{value:.3f}"
