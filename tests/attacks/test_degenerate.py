"""Campaigns with nothing in them to find: a sane answer or a sentence, whatever the command.

All equal, all zero, one of everything, huge, tiny, constant, too many metrics: sixty campaigns go
through every command. None may end in a traceback, print what is no JSON, or decide by an interval
of width zero.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import InputError, TableError
from assay.tables.tables import Ratings, TestSet

Run = Callable[..., Ran]
Score = Callable[[int, int, int], object]
"""What a rater gives a system on a segment."""


@dataclass(frozen=True)
class Campaign:
    """So many of everything, and what the scores and metrics are."""

    systems: int = 3
    documents: int = 3
    segments: int = 4
    raters: int = 1
    score: Score = field(default=lambda k, s, r: (7 * k + 5 * s + 3 * r) % 11)
    metrics: dict[str, Callable[[int, int], object]] = field(
        default_factory=lambda: {"m": lambda k, s: ((3 * k + 7 * s) % 13) / 13}
    )
    rated: Callable[[int, int], bool] = field(default=lambda k, s: True)
    winner: Callable[[int, int, int], str | None] = field(
        default=lambda i, j, s: ("left", "right", "tie")[(i + j + s) % 3]
    )
    mt: Callable[[int, int], str] = field(default=lambda k, s: f"a word or two {k} {s}")
    edited: Callable[[int, int], str] = field(default=lambda k, s: f"a word or three {s}")
    seconds: Callable[[int, int], object] = field(default=lambda k, s: 10 + (3 * k + s) % 7)

    def write(self, folder: Path) -> Path:
        """The tables of this campaign."""
        folder.mkdir(exist_ok=True)
        size = self.documents * self.segments
        places = [(s, f"d{s // self.segments}", s) for s in range(size)]
        names = [f"S{k}" for k in range(self.systems)]
        tables = {
            "scores": [("system", "doc", "seg", *self.metrics)],
            "ratings": [("system", "doc", "seg", "score", "rater")],
            "judgments": [("left", "right", "winner", "seg", "rater")],
            "edits": [("system", "doc", "seg", "editor", "mt", "edited", "seconds")],
        }
        for k, name in enumerate(names):
            for s, doc, seg in places:
                values = (make(k, s) for make in self.metrics.values())
                tables["scores"].append((name, doc, seg, *values))
                for r in range(self.raters if self.rated(k, s) else 0):
                    tables["ratings"].append((name, doc, seg, self.score(k, s, r), f"r{r}"))
                texts = (self.mt(k, s), self.edited(k, s), self.seconds(k, s))
                # Each editor sees a document once, by one system or another.
                number = (k + s // self.segments) % max(self.systems, 1)
                tables["edits"].append((name, doc, seg, f"e{number}", *texts))
                for j in range(k):
                    won = self.winner(j, k, s)
                    if won is not None:
                        tables["judgments"].append((names[j], name, won, seg, f"r{s % 2}"))
        for name, rows in tables.items():
            lines = ("\t".join(map(str, row)) + "\n" for row in rows)
            (folder / f"{name}.tsv").write_text("".join(lines))
        return folder


def noise(seed: int) -> Callable[[int, int], float]:
    values = np.random.default_rng(seed).standard_normal((10, 500)).round(6)
    return lambda k, s: float(values[k, s])


def many(count: int) -> dict[str, Callable[[int, int], object]]:
    return {f"m{number}": noise(number) for number in range(count)}


CAMPAIGNS = {
    # one of everything
    "one of everything": Campaign(1, 1, 1),
    "one system": Campaign(1),
    "one segment": Campaign(documents=1, segments=1),
    "one document": Campaign(documents=1, segments=12),
    "one segment each": Campaign(documents=12, segments=1),
    "two systems, one segment": Campaign(2, 1, 1),
    "two segments": Campaign(documents=1, segments=2),
    "two segments, two raters": Campaign(documents=1, segments=2, raters=2),
    "one segment, many raters": Campaign(documents=1, segments=1, raters=9),
    "one rating": Campaign(rated=lambda k, s: (k, s) == (0, 0)),
    "one rating each": Campaign(rated=lambda k, s: s == 0),
    "one system rated": Campaign(rated=lambda k, s: k == 0),
    "no ratings": Campaign(rated=lambda k, s: False),
    "nothing in common": Campaign(rated=lambda k, s: s % 3 == k),
    "one in common": Campaign(rated=lambda k, s: s == 0 or s % 3 == k),
    "one document rated": Campaign(rated=lambda k, s: s < 4),
    "all but one rated": Campaign(rated=lambda k, s: (k, s) != (0, 0)),
    # nothing varies
    "all zero": Campaign(score=lambda k, s, r: 0),
    "all zero, two raters": Campaign(raters=2, score=lambda k, s, r: 0),
    "all one": Campaign(score=lambda k, s, r: 1),
    "all tenths": Campaign(score=lambda k, s, r: 0.1),
    "all negative": Campaign(score=lambda k, s, r: -3),
    "systems constant": Campaign(score=lambda k, s, r: k),
    "systems constant, two raters": Campaign(raters=2, score=lambda k, s, r: k),
    "segments constant": Campaign(score=lambda k, s, r: s),
    "raters constant": Campaign(raters=2, score=lambda k, s, r: r),
    "systems and raters constant": Campaign(raters=2, score=lambda k, s, r: k + 10 * r),
    "documents constant": Campaign(score=lambda k, s, r: s // 4),
    "one system varies": Campaign(score=lambda k, s, r: s if k == 0 else 3),
    "one rating differs": Campaign(score=lambda k, s, r: int((k, s) == (0, 0))),
    "one rating missing": Campaign(score=lambda k, s, r: "" if (k, s) == (0, 0) else k + s % 2),
    "raters opposed": Campaign(raters=2, score=lambda k, s, r: s if r else -s),
    "two values": Campaign(score=lambda k, s, r: (k + s) % 2),
    "rounding apart": Campaign(score=lambda k, s, r: 1 + 1e-15 * ((k + s) % 3)),
    "many raters": Campaign(raters=7),
    # huge and tiny
    "1e308": Campaign(score=lambda k, s, r: (-1) ** s * 1e308),
    "1e308, one sign": Campaign(score=lambda k, s, r: 1.7e308),
    "1e150": Campaign(score=lambda k, s, r: 1e150 * ((k + s) % 3)),
    "1e150, two raters": Campaign(raters=2, score=lambda k, s, r: 1e150 * ((k + s + r) % 3)),
    "1e100": Campaign(score=lambda k, s, r: 1e100 * ((k + s) % 3)),
    "1e-300": Campaign(score=lambda k, s, r: 1e-300 * ((k + s) % 3)),
    "1e-300, two raters": Campaign(raters=2, score=lambda k, s, r: 1e-300 * ((k + s + r) % 3)),
    "1e-160": Campaign(score=lambda k, s, r: 1e-160 * ((k + s) % 3)),
    "smallest": Campaign(score=lambda k, s, r: 5e-324 * ((k + s) % 3)),
    "huge beside tiny": Campaign(score=lambda k, s, r: 1e150 if s == 0 else 1e-150 * (k + s)),
    "one outlier": Campaign(score=lambda k, s, r: 1e12 if (k, s) == (0, 0) else (k + s) % 3),
    "minus zero": Campaign(score=lambda k, s, r: "-0.0"),
    # metrics
    "no metrics": Campaign(metrics={}),
    "metric constant": Campaign(metrics={"m": lambda k, s: 1}),
    "metric missing": Campaign(metrics={"m": lambda k, s: "" if s else 1.5}),
    "metric by system": Campaign(metrics={"m": lambda k, s: k}),
    "metric by segment": Campaign(metrics={"m": lambda k, s: s}),
    "metric once": Campaign(metrics={"m": lambda k, s: int((k, s) == (0, 0))}),
    "metric twice": Campaign(metrics={"m": noise(1), "n": noise(1)}),
    "metric huge": Campaign(metrics={"m": lambda k, s: 1e150 * ((k + s) % 3)}),
    "metric largest": Campaign(metrics={"m": lambda k, s: (-1) ** s * 1.7e308}),
    "metric tiny": Campaign(metrics={"m": lambda k, s: 1e-300 * ((k + s) % 3)}),
    "metrics as many as ratings": Campaign(metrics=many(12)),
    "metrics more than ratings": Campaign(metrics=many(40)),
    "two hundred metrics": Campaign(documents=4, segments=10, metrics=many(200)),
    # judgments and edits
    "ties alone": Campaign(winner=lambda i, j, s: "tie"),
    "first always wins": Campaign(winner=lambda i, j, s: "left"),
    "round in a circle": Campaign(winner=lambda i, j, s: "left" if j == i + 1 else "right"),
    "one judgment": Campaign(winner=lambda i, j, s: "left" if (i, j, s) == (0, 1, 0) else None),
    "no judgments": Campaign(winner=lambda i, j, s: None),
    "one pair judged": Campaign(winner=lambda i, j, s: "left" if (i, j) == (0, 1) else None),
    "nothing edited": Campaign(edited=lambda k, s: f"a word or two {k} {s}"),
    "everything the same": Campaign(
        mt=lambda k, s: "a", edited=lambda k, s: "a", seconds=lambda k, s: 1,
        score=lambda k, s, r: 1, winner=lambda i, j, s: "tie",
    ),
    "everything rewritten": Campaign(mt=lambda k, s: "a b c", edited=lambda k, s: "x y z"),
    "edited unevenly": Campaign(edited=lambda k, s: "a word" + " or" * ((5 * k + 3 * s) % 7)),
    "no time at all": Campaign(seconds=lambda k, s: 0),
    "a year each": Campaign(seconds=lambda k, s: 3.2e7),
    "endless time": Campaign(seconds=lambda k, s: 1e150 * (1 + k + s)),
    "one long, all short": Campaign(seconds=lambda k, s: 1e6 if s == 0 else 1),
}  # fmt: skip

COMMANDS = {
    "check": "check ratings.tsv --kind ratings",
    "convert": "convert ratings.tsv out.csv --from ratings --to ratings",
    "sample": "sample scores.tsv --budget 50% --seed 1",
    "sample balanced": "sample scores.tsv --budget 3 --design balanced --seed 1",
    "stability": "stability scores.tsv --metric m --budget 50% --draws 5 --seed 1",
    "estimate": "estimate scores.tsv ratings.tsv --assume random --better lower",
    "estimate all": "estimate scores.tsv ratings.tsv",
    "estimate cv-multi": "estimate scores.tsv ratings.tsv --assume random --method cv-multi",
    "estimate regression": "estimate scores.tsv ratings.tsv --assume random --method regression",
    "estimate cv-knn": "estimate scores.tsv ratings.tsv --assume random --method cv-knn",
    "estimate cv-literal": "estimate scores.tsv ratings.tsv --assume random"
                           " --method cv-multi-literal",
    "estimate by doc": "estimate scores.tsv ratings.tsv --assume random --by doc",
    "estimate texts": "estimate scores.tsv ratings.tsv --assume documents --target texts",
    "estimate severity": "estimate scores.tsv ratings.tsv --assume random --remove-severity",
    "estimate borrow": "estimate scores.tsv ratings.tsv --assume random --borrow",
    "evaluate": "evaluate scores.tsv ratings.tsv --draws 5 --sizes 50% --seed 1",
    "raters": "raters scores.tsv ratings.tsv",
    "next": "next scores.tsv ratings.tsv --sample sample.tsv",
    "monitor": "monitor scores.tsv ratings.tsv --sample order.tsv --half-width .5",
    "audit": "audit scores.tsv ratings.tsv",
    "rank ratings": "rank ratings.tsv",
    "rank": "rank judgments.tsv --resamples 50 --seed 1",
    "rank pooled": "rank judgments.tsv --ranges pooled",
    "rank ties half": "rank judgments.tsv --ranges pooled --ties half",
    "next-set": "next-set judgments.tsv --seed 1",
    "monitor judgments": "monitor judgments.tsv",
    "audit judgments": "audit judgments.tsv --seed 1",
    "effort": "effort edits.tsv --measures time,distance,changed,hter",
    "plan ratings": "plan ratings scores.tsv ratings.tsv --half-width .5",
    "plan comparison": "plan comparison scores.tsv ratings.tsv --gap .5",
    "plan judgments": "plan judgments --pilot judgments.tsv --seed 1",
    "plan editors": "plan editors --pilot edits.tsv --gap .5",
}  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, invoke: Run) -> dict[str, Path]:
    """The tables of all campaigns, with two samples of each."""
    base = tmp_path_factory.mktemp("campaigns")
    found = {}
    for number, (name, campaign) in enumerate(CAMPAIGNS.items()):
        folder = found[name] = campaign.write(base / str(number))
        for design, budget in (("segments", "50%"), ("interleaved", "100%")):
            path = folder / f"{'sample' if design == 'segments' else 'order'}.tsv"
            scores = str(folder / "scores.tsv")
            invoke("sample", scores, "--budget", budget, "--design", design, "--seed", "1",
                   "-o", str(path))  # fmt: skip
    return found


def rows(thing: Any) -> Iterator[dict[str, Any]]:
    """Every row of a result, however deep."""
    if isinstance(thing, dict):
        yield thing
        for part in thing.values():
            yield from rows(part)
    elif isinstance(thing, list):
        for part in thing:
            yield from rows(part)


def no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def faults(ran: Ran) -> Iterator[str]:
    """What is wrong with an answer."""
    if ran.code == 2:
        if not (ran.err + ran.out).strip() or "Traceback" in ran.err:
            yield f"refused without a sentence: {ran.err[-300:]}"
        return
    if ran.code != 0:
        yield f"exit {ran.code}: {ran.err[-300:]}"
        return
    for row in rows(json.loads(ran.out, parse_constant=no_constant)):
        low, high = row.get("low"), row.get("high")
        if row.get("decided") is True and low is not None and low == high:
            yield f"decided by an interval of width zero: {row}"
        if row.get("n") and "estimate" in row and row["estimate"] is None:
            yield f"an estimate of nothing: {row}"


@pytest.mark.parametrize("command", COMMANDS)
def test_sixty_campaigns_with_nothing_in_them(
    command: str, folders: dict[str, Path], invoke: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sane answer or a sentence; each command once for every content of the tables it reads."""
    assert len(CAMPAIGNS) >= 60
    words, seen, found, answers = shlex.split(COMMANDS[command]), set(), [], 0
    for name, folder in folders.items():
        monkeypatch.chdir(folder)
        tables = [Path(word) for word in words if word.endswith(".tsv")]
        content = tuple(table.read_bytes() if table.exists() else b"" for table in tables)
        if content in seen:
            continue
        seen.add(content)
        try:
            ran = invoke(*words, "--json")
        except Exception as error:
            found.append(f"{name}: {type(error).__name__}: {error}")
            continue
        found += [f"{name}: {fault}" for fault in faults(ran)]
        answers += ran.code == 0
    assert not found, "\n".join(found)
    assert answers, "whatever it is given is refused"


def noisy(metrics: int, ratings: int = 30, segments: int = 120) -> tuple[TestSet, Ratings]:
    """One system with metrics of noise, and ratings of the first segments."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((segments, metrics)).round(6)
    frame = pl.DataFrame({"system": "A", "seg": range(segments)}).with_columns(
        pl.Series(f"m{k}", values[:, k]) for k in range(metrics)
    )
    test_set = assay.read_scores(frame)
    scores = rng.gamma(1.5, 2.0, ratings).round(2)
    table = pl.DataFrame({"system": "A", "seg": range(ratings), "score": scores})
    return test_set, assay.read_ratings(table, test_set)


@pytest.mark.parametrize("method", ["cv-multi", "auto", "regression"])
@pytest.mark.parametrize("metrics", [28, 29, 40, 200])
def test_as_many_metrics_as_ratings_explain_nothing(metrics: int, method: str) -> None:
    """Coverage was 0 % and .85; the mean is taken, with its interval."""
    test_set, ratings = noisy(metrics)
    found = assay.estimate(test_set, ratings, assume="random", method=method)
    mean = assay.estimate(test_set, ratings, assume="random", method="mean", interval="t")
    assert found.systems[0].method == "mean"
    assert found.systems[0].estimate == pytest.approx(mean.systems[0].estimate)
    assert found.systems[0].stderr == pytest.approx(mean.systems[0].stderr)
    assert "metrics-unused" in [note.code for note in found.notes]


@pytest.mark.parametrize("score", [1e308, -1e308, 1e150, 1e-300, 5e-324])
def test_numbers_nobody_can_reckon_with_are_refused_with_their_line(score: float) -> None:
    frame = pl.DataFrame({"system": "A", "seg": ["1", "2"], "score": [1.0, score]})
    with pytest.raises(TableError, match=r"line 2, column score: .* (larger|smaller) than"):
        assay.read_ratings(frame)


def test_metrics_that_are_zero_but_for_rounding_are_read_as_zero() -> None:
    """NLTK's sentence_bleu gives such numbers where no words, pairs or triples match."""
    bleu = [0.3, 1.0832677820940877e-231, -6.8e-155, 1.2e-78, None, 0.0, 1e-70]
    seg = [str(k) for k in range(7)]
    test_set = assay.read_scores(pl.DataFrame({"system": "A", "seg": seg, "BLEU": bleu}))
    assert test_set.frame["BLEU"].to_list() == [0.3, 0.0, 0.0, 0.0, None, 0.0, 1e-70]
    (note,) = (note for note in test_set.notes if note.code == "tiny-metric")
    assert str(note) == "BLEU: 3 values closer to 0 than 1e-75 read as 0"


def test_perfect_judgments_say_nothing_of_a_scale() -> None:
    """Their spread was one of rounding: F = 55356745419762304."""
    rows = [(f"S{i}", f"S{j}", "left", s) for i in range(4) for j in range(i + 1, 4)
            for s in range(50)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["left", "right", "winner", "seg"], orient="row")
    found = assay.rank(assay.read_judgments(frame), ranges="pooled")
    assert "scale-not-tested" in [note.code for note in found.notes]


@pytest.mark.parametrize("method", ["expected-win", "bradley-terry", "lopez"])
@pytest.mark.parametrize("ranges", ["bootstrap", "pooled"])
def test_ties_alone_leave_every_rank_open(method: str, ranges: Any) -> None:
    rows = [(f"S{i}", f"S{j}", "tie", s) for i in range(3) for j in range(i + 1, 3)
            for s in range(60)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["left", "right", "winner", "seg"], orient="row")
    judgments = assay.read_judgments(frame)
    try:
        found = assay.rank(judgments, method=method, ranges=ranges, ties="half", rng=1)
    except InputError:
        return
    assert {(item.low_rank, item.high_rank) for item in found.systems} == {(1, 3)}
