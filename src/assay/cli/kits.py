"""``assay kits``: homogeneous pieces of text, and kits of them for editors."""

from __future__ import annotations

import typer

__all__ = ["kits"]

kits = typer.Typer(
    help="Find pieces of text that are alike, and make kits of them for editors.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@kits.callback()
def _kits() -> None:
    pass
