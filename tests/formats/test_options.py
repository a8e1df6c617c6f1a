"""Options: what a format uses is named, what it does not use is refused."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

import assay.formats
from assay.errors import OptionError
from assay.formats.catalogue import FORMATS, Options, load_format, refuse_unused, save_format
from assay.formats.convert import convert
from assay.formats.mqm import make_weights


def options_used(function: Callable[..., object], seen: set[str]) -> set[str]:
    """The options that a function looks at, itself or in functions of the package it names."""
    plain = inspect.unwrap(function)
    if plain.__qualname__ in seen:
        return set()
    seen.add(plain.__qualname__)
    source = inspect.getsource(plain)
    used = set(re.findall(r"options\.([a-z_]+)", source))
    for name in set(re.findall(r"\w+", source)):
        other = plain.__globals__.get(name)
        if inspect.isfunction(other) and other.__module__.startswith("assay.formats"):
            used |= options_used(other, seen)
    return used


@pytest.mark.parametrize("name", FORMATS)
def test_the_options_named_are_those_that_are_used(name: str) -> None:
    found, used = FORMATS[name], set()
    for function in (found.read, found.write):
        if function is not None:
            used |= options_used(function, set())
    named = {
        option for kinds in (found.reads, found.writes) for o in kinds.values() for option in o
    }
    assert named <= {option.name for option in fields(Options)}
    assert named == used


def test_a_module_is_all_that_a_format_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "throw_away.py").write_text(
        "from assay.formats.catalogue import Format\n"
        "from assay.tables.load import Raw\n"
        "import polars as pl\n"
        "def read(path, kind, options):\n"
        "    rows = {'left': ['A'], 'right': ['B'], 'winner': ['tie']}\n"
        "    return Raw(pl.DataFrame(rows), str(path))\n"
        "PROVIDES = (Format('throw-away', 'one judgment', read, {'judgments': ()}),)\n"
    )
    monkeypatch.setattr(assay.formats, "__path__", [*assay.formats.__path__, str(tmp_path)])
    monkeypatch.delitem(vars(FORMATS), "_formats")  # found anew, and as they were afterwards
    done = convert(tmp_path / "x", tmp_path / "j.tsv", origin="throw-away", to="judgments")
    assert done.rows == 1
    monkeypatch.delitem(sys.modules, "assay.formats.throw_away")


GIVEN = {
    "lp": Options(lp="xx"),
    "human_scores": Options(human_scores="mqm"),
    "system": Options(system="A"),
    "editor": Options(editor="ann"),
    "weights": Options(weights=make_weights({"major": 10})),
    "blanks": Options(blanks="best"),
}


@pytest.mark.parametrize("option", GIVEN)
@pytest.mark.parametrize("name", FORMATS)
def test_an_option_is_used_or_refused(tmp_path: Path, name: str, option: str) -> None:
    found, options = FORMATS[name], GIVEN[option]
    unused = rf"^{option} \(.*\) is not used by {name}\b.*; leave it out$"
    for kind in found.reads:
        if option not in found.reads[kind]:
            with pytest.raises(OptionError, match=unused):
                load_format(tmp_path / "none", name, kind, options)
    for kind in found.writes:
        if option not in found.writes[kind]:
            with pytest.raises(OptionError, match=unused):
                save_format(pl.DataFrame(), tmp_path / "none", name, kind, options)
    assert list(tmp_path.iterdir()) == []


def test_two_formats_share_their_options() -> None:
    xliff, evalica = FORMATS["xliff"], FORMATS["evalica"]
    both = Options(lp="en-de", system="A")
    reading, writing = (xliff, xliff.reads["edits"]), (xliff, xliff.writes["edits"])
    judgments = (evalica, evalica.reads["judgments"])
    refuse_unused(both, reading, writing)
    with pytest.raises(
        OptionError, match=r"lp \(en-de\) is not used by xliff here \(only to write"
    ):
        refuse_unused(both, reading)
    with pytest.raises(
        OptionError, match=r"human_scores \(mqm\) is not used by xliff or evalica; leave"
    ):
        refuse_unused(Options(human_scores="mqm"), reading, judgments)
    with pytest.raises(OptionError, match="is not used by Assay's own tables"):
        refuse_unused(Options(blanks="best"))
    with pytest.raises(OptionError, match=r"weights \(major=10\) is not used by evalica; leave it"):
        refuse_unused(GIVEN["weights"], judgments)
    refuse_unused(Options(weights=make_weights({})), judgments)


def test_options_checked_before_are_not_checked_again(tmp_path: Path) -> None:
    frame = pl.DataFrame({"left": ["A"], "right": ["B"], "winner": ["left"]})
    path = tmp_path / "x.csv"
    with pytest.raises(OptionError, match="lp"):
        save_format(frame, path, "evalica", "judgments", GIVEN["lp"])
    save_format(frame, path, "evalica", "judgments", GIVEN["lp"], checked=True)
    with pytest.raises(OptionError, match="human"):
        load_format(path, "evalica", None, GIVEN["human_scores"])
    assert load_format(path, "evalica", None, GIVEN["human_scores"], checked=True).frame.equals(
        frame
    )
