"""Write ``docs/cli.md`` from the commands themselves; a test keeps it up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).with_name("cli.md")
COMMANDS = (
    "demo", "check", "convert", "plan ratings", "plan comparison", "plan judgments",
    "plan editors", "stability", "sample", "next", "next-set", "monitor", "estimate", "raters",
    "evaluate", "rank", "kits find", "kits design", "kits build", "kits collect", "effort",
    "audit", "report", "reproduce",
)  # fmt: skip
INTRODUCTION = """# The command line

This page is generated from the commands' own help. Every command prints a readable table, and with
`--json` exactly one JSON object on stdout; progress, notes and warnings go to stderr. Exit code 0:
done; 2: bad input, with a message that says where and what to do; 1: anything else.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, _block("assay", [])]
    parts += [_block(f"assay {command}", command.split()) for command in COMMANDS]
    return "\n".join(parts)


def _block(title: str, arguments: list[str]) -> str:
    environment = os.environ | {"COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", "assay", *arguments, "--help"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [line.rstrip() for line in done.stdout.replace("python -m assay", "assay").split("\n")]
    return f"## {title}\n\n```text\n" + "\n".join(lines).strip("\n") + "\n```\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
