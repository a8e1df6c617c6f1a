"""The page of results, docs/benchmarks.md, from what all runs so far recorded."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.claims import Claim, number

__all__ = ["Outcome", "load", "machine", "page", "save"]

HEAD = """# Benchmarks

Every claim of speed or accuracy has a script in `benchmarks/` that measures it, with other tools
measured in the same run. This page is written by that run, not by hand; what was not kept says so.

```text
make bench                                                   all scripts{default}
.venv/bin/python -m benchmarks rank_bootstrap kit_search     some: only their rows are replaced
.venv/bin/python -m benchmarks --full                        the full sizes below: much longer
```
"""
PEERS = """Other tools come from the package index. Those that Assay's own tests do not need
(ppi-python, subset2evaluate) are installed into environments of their own under `.bench/`, beside
the packages of this one, and skipped where that fails. Real data is looked for in `../shared/data`
(or `ASSAY_DATA`); scripts that need it are skipped, or use simulated test sets, where it is absent.
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
        f" {len(claims) - len(goals)} numbers without a goal are measured for comparison only.\n",
        _table(outcomes),
        _gaps(outcomes),
        _sizes(outcomes, full),
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


def _table(outcomes: dict[str, Outcome]) -> str:
    rows = ["## Claims\n", "| claim | goal | measured | kept | script |", "|---|---|---|---|---|"]
    for script in sorted(outcomes):
        for claim in outcomes[script].claims:
            measured = number(claim.measured, claim.unit)
            if claim.peer:
                measured += f" ({claim.peer})"
            cells = (claim.what, claim.goal_text, measured, claim.verdict, f"`{script}`")
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _gaps(outcomes: dict[str, Outcome]) -> str:
    lines = []
    for script in sorted(outcomes):
        if outcomes[script].failed:
            lines.append(f"- `{script}` failed; its other rows are what it found before")
        lines += [f"- `{script}`: {reason}" for reason in outcomes[script].skipped]
    return "\n".join(["## Skipped or failed\n", *lines]) + "\n" if lines else ""


def _sizes(outcomes: dict[str, Outcome], full: dict[str, tuple[str, ...]]) -> str:
    rows = [
        "## Time, and full sizes\n",
        "By default few draws are made, so that all scripts together stay short: statistical rows"
        " above have\nthe Monte-Carlo error of that size. Scripts print more than their claims.\n",
        "| script | took | run with | full size |",
        "|---|---|---|---|",
    ]
    for script in sorted(outcomes):
        found = outcomes[script]
        given = f"`{' '.join(found.arguments)}`" if found.arguments else "defaults"
        more = f"`python -m benchmarks.{script} {' '.join(full[script])}`" if script in full else ""
        rows.append(
            f"| `{script}` | {number(found.seconds, 's')} | {given} | {more or 'the same'} |"
        )
    return "\n".join(rows) + "\n"
