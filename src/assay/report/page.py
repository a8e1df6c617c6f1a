"""One self-contained HTML page from saved results: no script, no external request."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay._version import __version__
from assay.errors import InputError
from assay.report.figures import interval_figure
from assay.tables.raw import atomic, read_bytes

__all__ = ["read_result", "write_report"]

KINDS = ("estimates",)


def write_report(
    results: Sequence[Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    title: str = "Evaluation report",
    truth: Mapping[str, float] | None = None,
) -> Path:
    """Write the page; ``results`` are the ``to_dict()`` of results, as ``--json`` prints them.

    ``truth`` adds the true scores where they are known, as in a simulated campaign.

    >>> import assay, tempfile, pathlib
    >>> world = assay.simulate(documents=20, rng=1)
    >>> result = assay.estimate(world.test_set, world.rate())
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report([result.to_dict()], target).name
    'report.html'
    """
    if not results:
        raise InputError("there is nothing to report; give at least one saved result")
    sections = [_section(result, truth) for result in results]
    page = _template().render(title=title, sections=sections, version=__version__, truth=truth)
    target = Path(path)
    with atomic(target) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return target


def read_result(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A result that a command saved with ``-o`` or ``--json``."""
    source = Path(path)
    try:
        result = json.loads(read_bytes(source).decode())
    except ValueError as error:
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
    try:
        decided = sum(1 for item in result["differences"] if item["decided"])
        figure = interval_figure(result["systems"], better=result["better"], truth=truth)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"the saved result is not complete ({error}); write it again with --json"
        ) from None
    return {**result, "decided": decided, "figure": figure}


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
    return environment.get_template("page.html")


def _number(value: float | None) -> str:
    """Three decimals; a dash where nothing is known."""
    return "–" if value is None else f"{value:.3f}"
