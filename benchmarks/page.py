"""The page of results, docs/benchmarks.md, from what all runs so far recorded."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.claims import Claim, number

__all__ = ["Outcome", "load", "machine", "page", "save"]

HEAD = """# Benchmarks

Every claim of speed or accuracy is measured by a script in `benchmarks/`, other tools in the same
run; the run writes this page.

```text
make bench                                                   all scripts{default}
.venv/bin/python -m benchmarks rank_bootstrap kit_search     some: only their rows are replaced
.venv/bin/python -m benchmarks --full                        more draws: much longer
```
"""
PEERS = """Tools that Assay's tests do not need are installed into `.bench/`. Real data is looked
for in `../shared/data` (or `ASSAY_DATA`); without it, scripts use simulated test sets or are
skipped. Defaults make few draws, and rows have the Monte-Carlo error of that size.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one script found: claims, what it had to skip, and how it was run."""

    claims: tuple[Claim, ...]
    skipped: tuple[str, ...]
    failed: bool
    seconds: float
    arguments: tuple[str, ...]
    machine: str


def machine() -> str:
    """Processor, cores, and the versions that matter for speed."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "polars"))
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()},"
        f" Python {platform.python_version()}, {versions}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def load(path: Path) -> dict[str, Outcome]:
    """The outcomes of earlier runs, by script."""
    if not path.is_file():
        return {}
    stored = json.loads(path.read_text("utf-8"))
    return {
        script: Outcome(
            claims=tuple(Claim(**claim) for claim in found["claims"]),
            skipped=tuple(found["skipped"]),
            failed=found["failed"],
            seconds=found["seconds"],
            arguments=tuple(found["arguments"]),
            machine=found["machine"],
        )
        for script, found in stored.items()
    }


def save(outcomes: dict[str, Outcome], path: Path) -> None:
    """Write the outcomes where :func:`load` finds them."""
    content = {script: asdict(outcomes[script]) for script in sorted(outcomes)}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def page(outcomes: dict[str, Outcome], full: dict[str, tuple[str, ...]]) -> str:
    """The whole page; ``full`` are the arguments of the scripts' full sizes."""
    claims = [claim for found in outcomes.values() for claim in found.claims]
    goals = [claim for claim in claims if claim.goal is not None]
    total = sum(found.seconds for found in outcomes.values())
    parts = [
        HEAD.format(default=f" (these runs: {max(1, round(total / 60))} minutes)"),
        PEERS,
        _machines(outcomes),
        f"{sum(bool(c.kept) for c in goals)} of {len(goals)} goals are kept;"
        f" {len(claims) - len(goals)} numbers have none. Dots stand for words of the row above.\n",
        _gaps(outcomes),
        *(_script(name, outcomes[name], full.get(name)) for name in sorted(outcomes)),
    ]
    return "\n".join(part for part in parts if part)


def _machines(outcomes: dict[str, Outcome]) -> str:
    known = dict.fromkeys(found.machine for found in outcomes.values())
    if len(known) == 1:
        return f"Measured on: {next(iter(known))}.\n"
    lines = ["Measured on:\n"]
    for name in known:
        scripts = [script for script in sorted(outcomes) if outcomes[script].machine == name]
        lines.append(f"- {name}: {', '.join(scripts)}")
    return "\n".join(lines) + "\n"


def _script(script: str, found: Outcome, full: Sequence[str] | None) -> str:
    """The claims of one script, below how it was run."""
    how = f"{number(found.seconds, 's')}, {' '.join(found.arguments) or 'defaults'}"
    if full:
        how += f"; full size: `python -m benchmarks.{script} {' '.join(full)}`"
    rows = [f"## {script}\n", f"{how}\n", "| claim | goal | measured |", "|---|---|---|"]
    before = ""
    for claim in found.claims:
        goal = f"{'**missed:** ' if claim.kept is False else ''}{claim.goal_text}"
        measured = number(claim.measured, claim.unit)
        if claim.peer:
            measured += f" ({claim.peer})"
        cells = (cell.replace("|", "\\|") for cell in (_ditto(before, claim.what), goal, measured))
        before = claim.what
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


SAME = 3
"""Words that a row begins or ends with as the row before, from which on dots stand for them."""


def _ditto(before: str, what: str) -> str:
    """A claim without what it shares with the one before.

    >>> _ditto("a kit of 3 pieces: time", "a kit of 6 pieces: time")
    '... 6 pieces: time'
    """
    old, new = before.split(), what.split()
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    first, last = first * (first >= SAME), last * (last >= SAME)
    own = new[first : len(new) - last]
    return " ".join(["..."] * bool(first) + own + ["..."] * bool(last)) if own else what


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two lists begin with alike."""
    return next(
        (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def _gaps(outcomes: dict[str, Outcome]) -> str:
    lines = []
    for script in sorted(outcomes):
        if outcomes[script].failed:
            lines.append(f"- `{script}` failed; its other rows are what it found before")
        lines += [f"- `{script}`: {reason}" for reason in outcomes[script].skipped]
    return "\n".join(["## Skipped or failed\n", *lines]) + "\n" if lines else ""
