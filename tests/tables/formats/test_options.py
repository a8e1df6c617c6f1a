"""Options: what a format uses is named, what it does not use is refused."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

import assay.tables.formats
from assay.errors import OptionError
from assay.tables.formats import FORMATS, Options, load_format, refuse_unused, save_format
from assay.tables.formats.mqm import make_weights

SHARED = {
    "xliff2": ("xliff2", "xliff"),
    "mxliff": ("mxliff", "xliff"),
    "xliff": ("xliff", "xliff_write"),
    "wmt_rnk": ("wmt_rnk", "rnk"),
    "wmt15_rnk": ("wmt15_rnk", "rnk"),
    "mt_metrics_eval": ("mt_metrics_eval", "eval_folder_write"),
}
"""The modules that a format's options may be used in, where it is not one."""


@pytest.mark.parametrize("name", FORMATS)
def test_the_options_named_are_those_the_modules_use(name: str) -> None:
    found = FORMATS[name]
    place = Path(assay.tables.formats.__file__).parent
    modules = SHARED.get(found.module, (found.module,))
    code = "".join((place / f"{module}.py").read_text("utf-8") for module in modules)
    used = set(re.findall(r"options\.([a-z]+)", code))
    assert set(found.options) <= {option.name for option in fields(Options)}
    assert set(found.options) == used
    assert set(found.only) <= set(found.options)


GIVEN = {
    "lp": Options(lp="xx"),
    "human": Options(human="mqm"),
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
        if option not in found.reading(kind).options:
            with pytest.raises(OptionError, match=unused):
                load_format(tmp_path / "none", name, kind, options)
    for kind in found.writes:
        if option not in found.writing(kind).options:
            with pytest.raises(OptionError, match=unused):
                save_format(pl.DataFrame(), tmp_path / "none", name, kind, options)
    assert list(tmp_path.iterdir()) == []


def test_two_formats_share_their_options() -> None:
    xliff, evalica = FORMATS["xliff"], FORMATS["evalica"]
    both = Options(lp="en-de", system="A")
    refuse_unused(both, xliff.reading("edits"), xliff.writing("edits"))
    with pytest.raises(
        OptionError, match=r"lp \(en-de\) is not used by xliff here \(only to write"
    ):
        refuse_unused(both, xliff.reading("edits"))
    with pytest.raises(OptionError, match=r"human \(mqm\) is not used by xliff or evalica; leave"):
        refuse_unused(Options(human="mqm"), xliff, evalica)
    with pytest.raises(OptionError, match="is not used by Assay's own tables"):
        refuse_unused(Options(blanks="best"))
    with pytest.raises(OptionError, match=r"weights \(major=10\) is not used by evalica; leave it"):
        refuse_unused(GIVEN["weights"], evalica)
    refuse_unused(Options(weights=make_weights({})), evalica)


def test_options_checked_before_are_not_checked_again(tmp_path: Path) -> None:
    frame = pl.DataFrame({"left": ["A"], "right": ["B"], "winner": ["left"]})
    path = tmp_path / "x.csv"
    with pytest.raises(OptionError, match="lp"):
        save_format(frame, path, "evalica", "judgments", GIVEN["lp"])
    save_format(frame, path, "evalica", "judgments", GIVEN["lp"], checked=True)
    with pytest.raises(OptionError, match="human"):
        load_format(path, "evalica", None, GIVEN["human"])
    assert load_format(path, "evalica", None, GIVEN["human"], checked=True).frame.equals(frame)
