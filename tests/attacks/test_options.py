"""Extreme and contradictory options: a sentence and exit code 2, or a sane answer.

Every number that a command takes is given as nothing, less than nothing, far too much, and as no
number. None may end in a traceback.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.attacks.test_degenerate import Campaign, faults
from tests.conftest import Ran
from typer.main import get_command

from assay.cli import make_app
from assay.cli.running import announce, track
from assay.engine import Cluster, run
from assay.errors import OptionError

Run = Callable[..., Ran]

LINES = {
    "plan ratings": "--population 1400 --sd 3 --half-width .3",
    "plan comparison": "--population 1400 --gap .3 --difference-sd 3",
    "plan judgments": "--systems 5 --sigma 8",
    "plan editors": "--gap .3 --systems 3 --cell .1 --residual .2",
    "stability": "scores.tsv --metric m --budget 50% --draws 3",
    "sample": "scores.tsv --budget 50%",
    "next": "scores.tsv ratings.tsv --sample sample.tsv",
    "monitor": "scores.tsv ratings.tsv --sample order.tsv --half-width .5",
    "next-set": "judgments.tsv",
    "estimate": "scores.tsv ratings.tsv",
    "raters": "scores.tsv ratings.tsv",
    "evaluate": "scores.tsv ratings.tsv --draws 2 --sizes 50% --methods baseline",
    "rank": "judgments.tsv --resamples 50",
    "effort": "edits.tsv",
    "audit": "scores.tsv ratings.tsv",
    "kits find": "text.txt --words 20",
    "kits design": "--systems 3 --editors 6",
}
WHOLE = ("0", "-1", "1000000000", "100000000000000000000")
NUMBER = ("0", "-1", "nan", "inf", "1e300", "1e-300")
WORDS = {
    "--budget": ("0", "-1", "1e20", "200%", "nan%", "1e300 words", "nan min", "1e-9%"),
    "--sizes": ("0", "1e20", "nan", "-5%"),
    "--looks": ("0", "1000000000", "100000000000000000000", "1,1", "5,3", "nan"),
    "--spend": ("nan h", "1e300 EUR", "-1 h", "0 ratings", "1e20 ratings"),
    "--range": ("nan,nan", "0,0", "5,1", "inf,inf", "-1e300,1e300", "1e-300,2e-300"),
    "--systems": ("100000000000000000000", "0", "1", "1000000000"),
    "--editors": ("0", "1000000000", "100000000000000000000"),
    "--length-tolerance": ("nan", "inf", "-1"),
    "--shared": ("nan", "-1", "inf"),
    "--density": ("nan", "0", "-1"),
}
SLOW = {("--workers", "0"), ("--seed", "1000000000"), ("--draws", "1000000000")}
"""Not extreme: one process per core starts these for a second; the last has a test of its own."""


def options(command: str) -> list[tuple[str, str]]:
    """Every option of a command with every value to try."""
    group = get_command(make_app([command.split()[0]]))
    found = group.commands[command.split()[0]]  # type: ignore[attr-defined]
    for word in command.split()[1:]:
        found = found.commands[word]
    tried = []
    for item in found.params:
        if item.param_type_name != "option":
            continue
        name, kind = max(item.opts, key=len), str(item.type_descriptor.annotation)
        values = WHOLE if "int" in kind else NUMBER if "float" in kind else ()
        tried += [(name, value) for value in dict.fromkeys((*values, *WORDS.get(name, ())))]
    return [pair for pair in tried if pair not in SLOW]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, invoke: Run) -> Path:
    folder = Campaign(documents=4, segments=6, raters=2).write(tmp_path_factory.mktemp("options"))
    for name, design, budget in (("sample", "segments", "50%"), ("order", "interleaved", "100%")):
        invoke("sample", str(folder / "scores.tsv"), "--budget", budget, "--design", design,
               "--seed", "1", "-o", str(folder / f"{name}.tsv"))  # fmt: skip
    text = (
        f"A sentence about thing {k} with several words in it. Another follows." for k in range(40)
    )
    (folder / "text.txt").write_text("\n\n".join(text))
    return folder


@pytest.mark.parametrize("command", LINES)
def test_extreme_options(
    command: str, folder: Path, invoke: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words, found = [*command.split(), *shlex.split(LINES[command])], []
    assert invoke(*words, "--json").code == 0  # what is refused below is so for its option
    for option, value in options(command):
        began = time.process_time()
        try:
            ran = invoke(*words, option, value, "--json")
        except Exception as error:
            found.append(f"{option} {value}: {type(error).__name__}: {error}")
            continue
        found += [f"{option} {value}: {fault}" for fault in faults(ran)]
        if time.process_time() - began > 5:
            found.append(f"{option} {value}: {time.process_time() - began:.0f} s")
    assert not found, "\n".join(found)


def test_at_least_a_hundred_options_are_tried() -> None:
    assert sum(len(options(command)) for command in LINES) >= 300


CONTRADICTIONS = (
    "stability scores.tsv --metric m --budget 50% --draws 1000000000",
    "evaluate scores.tsv ratings.tsv --draws 1000000000",
    "stability scores.tsv --metric m --budget 50% --workers 1000000",
    "stability scores.tsv --metric m --budget 50% --scheduler tls://127.0.0.1:1",
    "stability scores.tsv --metric m --budget 50% --scheduler tcp://127.0.0.1:1 --workers 2",
    "stability scores.tsv --metric m --budget 50% --backend dask",
    "stability scores.tsv --metric m --budget 50% --backend serial --workers 3",
    "stability scores.tsv --metric m --budget 50% --candidates 2",
    "rank judgments.tsv --resamples 1000000000",
    "rank judgments.tsv --ranges sign --resamples 100",
    "plan ratings --population 100000000000000000000 --sd 3 --half-width .3",
    "plan editors --gap .3 --systems 1000000000 --cell .1 --residual .2",
    "kits design --systems 1000000000 --editors 2",
    "estimate scores.tsv ratings.tsv --sample sample.tsv --assume random",
    "estimate scores.tsv ratings.tsv --level 1e-300",
    "estimate scores.tsv ratings.tsv --level 0.9999999999999999",
    "estimate scores.tsv ratings.tsv --interval betting",
    "sample scores.tsv --budget 3 --goal score --design segments",
)


@pytest.mark.parametrize("line", CONTRADICTIONS)
def test_contradictory_options_are_refused_in_a_sentence(
    line: str, folder: Path, invoke: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    ran = invoke(*shlex.split(line))
    assert (ran.code, ran.out) == (2, "")
    assert "(" in ran.err or "exclude" in ran.err or "needs" in ran.err


def test_the_largest_sensible_number_is_named() -> None:
    with pytest.raises(OptionError, match="workers .1000000. is too many; give at most 1,024"):
        run(lambda cell, rng: cell, [1, 2], workers=1_000_000)
    with pytest.raises(OptionError, match="needs certificates"):
        list(run(lambda cell, rng: cell, [1, 2], workers=Cluster("tls://127.0.0.1:1")))


def test_long_work_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    assert not announce(12.0, 12, 100)
    assert not announce(2.0, 1, 1000), "the first steps say little about the pace"
    assert announce(20.0, 10, 1000)
    assert "about 33 more minutes" in capsys.readouterr().err
    assert list(track(range(3), 3, "cells")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
