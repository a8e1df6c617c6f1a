"""Effort: self-made editors, the paper's data, and bad input."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Ran

import assay
from assay.effort.effort import measure_edits
from assay.effort.model import _degrees, check_names, fit_model, t_p
from assay.effort.results import Relation, place_systems, relative_effort
from assay.errors import InputError, OptionError
from assay.results import Note
from assay.tables.answers import Edits, edit_distance
from assay.worlds.editing import EditingWorld

Run = Callable[..., Ran]

KITS = [
    (f"E{number}", doc, system)
    for number, order in enumerate(permutations(["A", "B", "Human"]))
    for doc, system in zip("xyz", order, strict=True)
]
WORLD = EditingWorld(systems={"A": 8.0, "B": 8.5, "Human": -3.0}, segments=12, cell=4.0, noise=40.0)


@pytest.fixture(scope="module")
def edits() -> Edits:
    return WORLD.edits(KITS, rng=3)


@pytest.fixture(scope="module")
def effectiff(shared_data: Path) -> Edits:
    frame = pl.read_csv(shared_data / "effectiff_segments.tsv.gz", separator="\t", quote_char=None)
    names = {"document": "doc", "engine": "system", "edit_time_s": "seconds", "src_words": "words"}
    return assay.read_edits(frame.rename(names))


def _differences(result: assay.Effort) -> dict[tuple[str, str, str], object]:
    return {(d.left, d.right, d.measure): d for d in result.differences}


def test_distances_by_hand() -> None:
    assert edit_distance("abcd", "abxd") == 25
    assert edit_distance("", "abc") == 100
    assert edit_distance("ab", "abcd") == 50


@settings(max_examples=30)
@given(left=st.text(max_size=12), right=st.text(max_size=12))
def test_distance_equals_a_naive_one(left: str, right: str) -> None:
    table = np.zeros((len(left) + 1, len(right) + 1))
    table[:, 0], table[0] = np.arange(len(left) + 1), np.arange(len(right) + 1)
    for i, a in enumerate(left, start=1):
        for j, b in enumerate(right, start=1):
            near = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b)]
            table[i, j] = min(near)
    longer = max(len(left), len(right), 1)
    assert edit_distance(left, right) == pytest.approx(100 * table[-1, -1] / longer)


def test_self_made_editors(edits: Edits) -> None:
    result = assay.effort(edits, human="Human", margin=0.1, rate=50, rng=1)
    found = _differences(result)
    for engine in ("A", "B"):
        for measure in ("distance", "changed"):
            assert found[engine, "Human", measure].verdict == "Human needs less effort"
    assert found["A", "B", "distance"].verdict == "undetermined"
    assert {item.verdict for item in result.parity if item.measure == "distance"} == {"no parity"}
    assert (result.degrees, result.assignments, result.exact) == (8, 720, True)
    assert {note.code for note in result.warnings} >= {"place-is-document", "too-few-editors"}
    for item in result.systems:
        assert item.price_per_1000_words == pytest.approx(50 * item.hours_per_1000_words)
        for level in item.measures.values():
            assert level.low < level.low83 < level.mean < level.high83 < level.high
    assert sum(place.score for place in result.placings) == 36
    assert result.to_frame().height == 9


def test_relabelling_permutes(edits: Edits) -> None:
    plain = _differences(assay.effort(edits, measures=["distance"], rng=1))
    names = {"A": "B", "B": "A", "Human": "Human"}
    frame = edits.frame.with_columns(pl.col("system").replace_strict(names))
    other = _differences(assay.effort(Edits(frame), measures=["distance"], rng=1))
    assert other["B", "A", "distance"].difference == pytest.approx(
        plain["A", "B", "distance"].difference, rel=1e-5
    )
    assert other["B", "A", "distance"].randomisation_p == pytest.approx(
        plain["A", "B", "distance"].randomisation_p
    )


def test_rows_in_any_order_say_the_same(edits: Edits) -> None:
    shuffled = Edits(edits.frame.sample(fraction=1.0, shuffle=True, seed=2))
    plain = {frozenset((d.left, d.right)): abs(d.difference)
             for d in assay.effort(edits, measures=["distance"]).differences}  # fmt: skip
    for d in assay.effort(shuffled, measures=["distance"]).differences:
        assert abs(d.difference) == pytest.approx(plain[frozenset((d.left, d.right))], rel=1e-5)


def test_randomisation_by_hand() -> None:
    """Two kits, two editors each: six different assignments, of which the actual is extreme."""
    rows = [
        {"system": s, "doc": d, "seg": k, "editor": e, "mt": "abcdefghij",
         "edited": "abcdefghij" if s == "X" else "x" * (4 + k + number) + "abcdefghij"[4 + k :]}
        for number, (e, kit) in enumerate({"1": "XY", "2": "YX", "3": "XY", "4": "YX"}.items())
        for d, s in zip("de", kit, strict=True) for k in (1, 2)
    ]  # fmt: skip
    result = assay.effort(assay.read_edits(pl.DataFrame(rows)), measures=["distance"])
    assert (result.assignments, result.exact) == (6, True)
    # The other extreme, all labels swapped, is as large in size: 2 of the 6 assignments.
    assert result.differences[0].randomisation_p == pytest.approx(2 / 6)


def test_many_editors_are_dealt_at_random() -> None:
    kits = [(f"E{n}", d, s) for n in range(20) for d, s in zip("xy", ("AB", "BA")[n % 2])]  # noqa: B905
    edits = EditingWorld(systems={"A": 0.0, "B": 9.0}, segments=5).edits(kits, rng=1)
    first = assay.effort(edits, measures=["distance"], rng=4)
    assert (first.exact, first.assignments) == (False, 10_001)
    assert first.signature.endswith(f"seed:4|v:{assay.__version__}")
    again = assay.effort(edits, measures=["distance"], rng=4)
    assert again.differences == first.differences


def test_positions_are_allowed_for_where_they_can_be() -> None:
    design = assay.design_kits(["A", "B", "C"], 6, design="graeco-latin", rng=1)
    kits = [(t.editor, t.document, t.system) for t in design.kits]
    edits = EditingWorld(systems={"A": 0.0, "B": 0.0, "C": 9.0}, segments=6).edits(kits, rng=1)
    result = assay.effort(edits, measures=["distance"])
    assert result.fixed == ("system", "document", "place")
    assert result.degrees == 18 - 6 - 2 - 2 - 2
    few = Edits(edits.frame.filter(pl.col("editor").is_in(design.editors[:3])))
    result = assay.effort(few, measures=["distance"])
    assert result.fixed == ("system", "document")
    assert "place-left-out" in {note.code for note in result.warnings}


def test_time_on_other_scales(edits: Edits) -> None:
    for scale in ("log", "winsorised"):
        result = assay.effort(edits, measures=["time"], time=scale)
        assert f"time:{scale}" in result.signature
        assert any("time" in line for line in result.notes)
    with pytest.raises(OptionError, match="time .cube. is not known; choose from mean, log"):
        assay.effort(edits, time="cube")


def test_hter_is_sacrebleus(edits: Edits) -> None:
    from sacrebleu.metrics.ter import TER

    few = Edits(edits.frame.head(20))
    found = measure_edits(few, ["hter"]).frame["hter"]
    for mt, edited, value in zip(few.frame["mt"], few.frame["edited"], found, strict=True):
        assert value == pytest.approx(TER().sentence_score(mt, [edited]).score)


def test_identical_kits_need_an_assumption() -> None:
    kits = [(f"E{n}", d, s) for n in range(4) for d, s in (("x", "A"), ("y", "B"))]
    edits = EditingWorld(systems={"A": 0.0, "B": 20.0}, segments=8).edits(kits, rng=1)
    with pytest.raises(InputError, match="systems cannot be separated from documents"):
        assay.effort(edits, measures=["distance"])
    result = assay.effort(edits, measures=["distance"], assume_alike=True)
    assert result.differences[0].verdict == "A needs less effort"
    assert "documents-assumed-alike" in {note.code for note in result.warnings}


def _dealt_at_random(rng: np.random.Generator) -> tuple[EditingWorld, list[tuple[str, str, str]]]:
    """Eight documents that differ, each with one of two made-up systems; all editors edit all."""
    docs = [f"d{number}" for number in range(8)]
    systems = dict(zip(docs, rng.permutation(["A", "B"] * 4).tolist(), strict=True))
    harder = dict(zip(docs, rng.normal(0, 6, 8).tolist(), strict=True))
    world = EditingWorld({"A": 0.0, "B": 0.0}, level=30, segments=8, documents=harder)
    return world, [(f"E{n}", doc, systems[doc]) for n in range(4) for doc in docs]


def test_documents_dealt_at_random_decide_no_more_than_chance_does() -> None:
    # Without an effect of the document 0.29 are decided. The error of 0.05 in 200 runs is 0.015.
    rng, decided = np.random.default_rng(5), []
    for _ in range(200):
        world, kits = _dealt_at_random(rng)
        frame = world.values(kits, rng).rename({"value": "distance"})
        frame = frame.with_columns(place=pl.lit(None, dtype=pl.Int64))
        model = fit_model(frame, "distance", check_names(frame, None), documents=False)
        weights = np.array([1.0, -1.0])
        degrees = model.contrast_degrees(weights)
        assert degrees == pytest.approx(6, abs=0.01)
        decided.append(t_p(*model.contrast(weights), degrees) < 0.05)
    assert np.mean(decided) <= 0.05 + 2 * 0.015


def test_what_documents_are_worth_is_said() -> None:
    world, kits = _dealt_at_random(np.random.default_rng(5))
    result = assay.effort(world.edits(kits, rng=1), measures=["distance"], assume_alike=True, rng=1)
    assert result.components["distance"]["document"] > 0
    assert {"documents-random", "too-few-documents"} <= {note.code for note in result.warnings}
    assert "documents like these" in result.next[0]


def test_nothing_unknown_is_shown_as_a_table() -> None:
    from assay.views.effort import effort_section
    from assay.views.section import Table

    world, kits = _dealt_at_random(np.random.default_rng(1))
    result = assay.effort(world.edits(kits, rng=1), measures=["distance"], assume_alike=True)
    section = effort_section(result)
    tables = {block.name: block for block in section.blocks if isinstance(block, Table)}
    assert "effort-documents" not in tables
    assert "randomisation p" not in {column.name for column in tables["effort-differences"].columns}
    assert "several documents from each" in section.methods


def test_hter_says_how_it_tokenises(edits: Edits) -> None:
    measured = measure_edits(Edits(edits.frame.head(5)), ["hter"])
    (note,) = [note for note in measured.notes if note.code == "hter-words"]
    assert "tok:tercom|norm:no|punct:yes" in note


def test_parity_is_shown_where_it_holds() -> None:
    world = EditingWorld(systems={"A": 20.0, "Human": 20.0}, cell=0.5, noise=9.0, segments=20)
    orders = (("A", "Human"), ("Human", "A"))
    kits = [(f"E{n}", d, s) for n in range(12) for d, s in zip("xy", orders[n % 2], strict=True)]
    result = assay.effort(
        world.edits(kits, rng=2), human="Human", margin=0.2, measures=["distance"]
    )
    assert [item.verdict for item in result.parity] == ["parity"]


def test_nothing_changed_is_undetermined(edits: Edits) -> None:
    frame = edits.frame.with_columns(pl.col("mt").alias("edited"))
    result = assay.effort(Edits(frame), measures=["distance", "changed"], human="A", margin=0.1)
    assert {item.verdict for item in result.differences} == {"undetermined"}
    assert all(item.p == 1 for item in result.differences)
    json.dumps(result.to_dict(), allow_nan=False)


# Bad input, one test each


def test_one_editor(edits: Edits) -> None:
    frame = edits.frame.filter(pl.col("editor") == "E0")
    with pytest.raises(InputError, match="only one editor .'E0'."):
        assay.effort(Edits(frame))


def test_one_engine(edits: Edits) -> None:
    frame = edits.frame.filter(pl.col("system") == "A")
    with pytest.raises(InputError, match="only one system .'A'.: nothing to compare"):
        assay.effort(Edits(frame))


def test_no_times(edits: Edits) -> None:
    result = assay.effort(Edits(edits.frame.drop("seconds")))
    assert set(result.units) == {"distance", "changed"}
    assert "no segment has seconds: time is left out" in result.notes
    assert result.systems[0].hours_per_1000_words is None
    with pytest.raises(InputError, match="time is the only measure"):
        assay.effort(Edits(edits.frame.drop("seconds")), measures=["time"])


def test_some_missing_times(edits: Edits) -> None:
    gap = pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("seconds"))
    frame = edits.frame.with_columns(gap.alias("seconds"))
    result = assay.effort(Edits(frame))
    missing = frame["seconds"].null_count()
    assert f"{missing} segments without seconds left out of time" in result.notes
    assert len(result.differences) == 9


def test_a_system_without_times(edits: Edits) -> None:
    gap = pl.when(pl.col("system") == "A").then(None).otherwise(pl.col("seconds"))
    with pytest.raises(InputError, match="A has no segment with seconds per word"):
        assay.effort(Edits(edits.frame.with_columns(gap.alias("seconds"))))


def test_negative_times(edits: Edits, tmp_path: Path, run_assay: Run) -> None:
    frame = edits.frame.with_columns(pl.lit(-1.0).alias("seconds"))
    frame.write_csv(tmp_path / "edits.csv")
    ran = run_assay("effort", tmp_path / "edits.csv")
    assert ran.code == 2
    assert "seconds" in ran.err


def test_an_engine_twice_is_told(edits: Edits) -> None:
    frame = edits.frame.with_columns(
        pl.when((pl.col("editor") == "E0") & (pl.col("doc") == "y"))
        .then(pl.lit("A"))
        .otherwise(pl.col("system"))
        .alias("system")
    )
    result = assay.effort(Edits(frame), measures=["distance"])
    twice = [note for note in result.warnings if note.code == "system-twice"]
    assert twice
    assert "E0, A" in twice[0]


def test_a_document_twice_is_refused(edits: Edits) -> None:
    extra = edits.frame.filter((pl.col("editor") == "E0") & (pl.col("doc") == "x"))
    frame = pl.concat([edits.frame, extra.with_columns(pl.lit("B").alias("system"))])
    with pytest.raises(InputError, match="editor 'E0' edited document 'x' from 2 systems"):
        assay.effort(Edits(frame))


def test_an_empty_document(edits: Edits) -> None:
    empty = pl.when(pl.col("doc") == "y").then(pl.lit("")).otherwise(pl.col("source"))
    with pytest.raises(InputError, match="document 'y' is empty: it has no words"):
        assay.effort(Edits(edits.frame.with_columns(empty.alias("source"))))


def test_too_few_editors_for_any_test(edits: Edits) -> None:
    frame = edits.frame.filter(
        pl.col("editor").is_in(["E0", "E2"]) & pl.col("doc").is_in(["x", "y"])
    ).filter(pl.col("system") != "Human")
    with pytest.raises(InputError, match="too few to estimate the spread"):
        assay.effort(Edits(frame), measures=["distance"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0.1}, "margin .0.1. needs a human translation"),
        ({"margin": -1, "human": "Human"}, "margin .-1. is not a share"),
        ({"human": "human"}, "did you mean 'Human'"),
        ({"alike": 1}, "alike .1. is not a ratio above 1"),
        ({"rate": -2}, "rate .-2. is not the price of an hour"),
        ({"level": 95}, "level .95. is not a confidence level"),
        ({"level": 0.5}, "level .0.5. is not a confidence level above .5"),
        ({"time_weight": -1}, "time_weight .-1. is not a weight"),
        ({"draws": 0}, "draws .0. is not a number"),
        ({"measures": ["speed"]}, "measures .speed. is not known; choose from time, distance"),
        ({"measures": []}, "names none"),
    ],
)
def test_options(edits: Edits, options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        assay.effort(edits, **options)


# The command and the figures


def test_command(edits: Edits, tmp_path: Path, run_assay: Run) -> None:
    file = edits.write(tmp_path / "edits.tsv")
    ran = run_assay(
        "effort", file, "--human", "Human", "--margin", 0.2, "--rate", 40, "--seed", 1,
        "--figure", tmp_path / "a.svg", "--figure-by-editor", tmp_path / "b.png",
        "-o", tmp_path / "e.json", "--json",
    )  # fmt: skip
    result = json.loads(ran.out)
    assert result == json.loads((tmp_path / "e.json").read_text())
    assert [item["system"] for item in result["systems"]] == ["A", "B", "Human"]
    assert [item["document"] for item in result["documents"]] == ["x", "y", "z"]
    assert {item["decided"] for item in result["differences"]} == {True, False}
    assert result["warnings"][0].keys() == {"code", "text"}
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "b.png").stat().st_size > 1000
    ran = run_assay("effort", file, "--human", "Human", "--margin", 0.2)
    assert "Human needs less effort" in ran.out
    assert "every editor had the documents in the same order" in ran.err


def test_several_files_and_other_tools(edits: Edits, tmp_path: Path, run_assay: Run) -> None:
    whole = edits.write(tmp_path / "edits.tsv")
    files = [
        Edits(part).write(tmp_path / f"{number}.tsv")
        for number, part in enumerate(edits.frame.partition_by("editor", maintain_order=True))
    ]
    one = json.loads(run_assay("effort", whole, "--json", "--seed", 1).out)
    many = json.loads(run_assay("effort", *files, "--json", "--seed", 1).out)
    assert many == one
    run_assay("convert", whole, tmp_path / "e.xlf", "--from", "edits", "--to", "xliff")
    ran = run_assay("effort", tmp_path / "e.xlf", "--format", "xliff", "--json", "--seed", 1)
    assert [item["difference"] for item in json.loads(ran.out)["differences"]] == pytest.approx(
        [item["difference"] for item in one["differences"]], rel=1e-4
    )
    ran = run_assay("effort", files[0], files[0])
    assert ran.code == 2
    ran = run_assay("effort", whole, "--editor", "Eve")
    assert (ran.code, "is in the table already" in ran.err) == (2, True)


def test_a_saved_result_comes_back(edits: Edits) -> None:
    result = assay.effort(edits, human="Human", margin=0.1, rate=50, rng=1)
    related = replace(result, relations=(Relation("LIX", "time", 3, 0.5, 1.0),))
    for saved in (result, related):
        assert assay.Effort.from_dict(json.loads(json.dumps(saved.to_dict()))) == saved
    assert all(isinstance(note, Note) for note in (*result.notes, *result.warnings))


def test_progress_is_told_measure_by_measure(edits: Edits) -> None:
    seen: list[tuple[str, int, int]] = []
    told = assay.effort(
        edits, measures=["distance", "hter"], rng=1, progress=lambda *step: seen.append(step)
    )
    segments = [("HTER of segments", k, len(edits)) for k in range(len(edits) + 1)]
    assert seen == [*segments, *(("measures of effort", k, 2) for k in range(3))]
    assert told == assay.effort(edits, measures=["distance", "hter"], rng=1)


# The paper's data


def test_distances_equal_the_authors(effectiff: Edits) -> None:
    frame = measure_edits(effectiff).frame
    changed = frame.filter(pl.col("changed") == 1)
    assert changed.height == 205
    assert (changed["distance"].round(1) == changed["edit_distance"]).all()


def test_tables_2_to_4_of_korotaev2022(effectiff: Edits) -> None:
    cells = measure_edits(effectiff).cells()
    measures = ["time", "distance", "changed"]
    rows = relative_effort(cells, measures, decimals=1)
    pooled = {(row.name, row.measure): row.pooled for row in rows}
    described = {(row.name, row.measure): row.described for row in rows}
    names = ("Amazon", "Google", "Human")
    time = [pooled[name, "time"] for name in names]
    assert time == pytest.approx([1.6108999, 1.4801239, 0.5869889], abs=2e-4)
    distance = [pooled[name, "distance"] for name in names]
    assert distance == pytest.approx([1.4126214, 1.2063107, 0.381068], abs=1e-6)
    changed = [pooled[name, "changed"] for name in names]
    assert changed == pytest.approx([1.160136286, 1.162521295, 0.677342419], abs=1e-9)
    changed = [pooled[name, "changed"] for name in ("DocI", "DocII", "DocIII")]
    assert changed == pytest.approx([1.084156729, 0.865417376, 1.050425894], abs=1e-9)
    distance = [pooled[name, "distance"] for name in ("DocI", "DocII", "DocIII")]
    assert distance == pytest.approx([0.9199029, 1.038835, 1.0412621], abs=1e-6)
    # The documents' speed goes by the words of Table 1, not by those of the edited segments.
    words = {"DocI": 534.0, "DocII": 518.0, "DocIII": 561.0}
    own = cells.with_columns(pl.col("doc").replace_strict(words).alias("words"))
    found = {row.name: row.pooled for row in relative_effort(own, ["time"])}
    time = [found[name] for name in words]
    assert time == pytest.approx([0.9143482, 0.8712726, 1.3182554], abs=2e-4)
    for name, values in (("Amazon", (1.17, 1.25, 1.10)), ("Google", (1.46, 1.44, 1.29))):
        ratios = [described[name, measure] for measure in measures]
        assert ratios == pytest.approx(values, abs=0.005)
    placings = {item.system: item for item in place_systems(cells, measures, {})}
    assert [placings[name].inverse_score for name in names] == [16, 14, 6]
    assert [placings[name].score for name in names] == [15, 15, 6]
    assert placings["Amazon"].inverse_places == (0, 2, 4)


def test_verdicts_on_the_data_of_korotaev2022(effectiff: Edits) -> None:
    result = assay.effort(effectiff, human="Human", margin=0.2)
    found = _differences(result)
    assert result.degrees == 8
    for measure in result.units:
        for engine in ("Amazon", "Google"):
            item = found[engine, "Human", measure]
            assert item.verdict == "Human needs less effort"
            assert 0.003 <= item.p <= 0.024
        pair = found["Amazon", "Google", measure]
        assert pair.verdict == "undetermined"
        assert 0.45 <= pair.p <= 1
    human = next(item for item in result.systems if item.system == "Human")
    assert [level.randomisation_p for level in human.measures.values()] == [
        pytest.approx(1 / 90)
    ] * 3
    second = next(item for item in result.documents if item.document == "DocII").measures["time"]
    assert (second.low, second.high) == pytest.approx((0.36, 0.96), abs=0.005)
    assert second.verdict == "undetermined"
    kinds = {note.code: note for note in result.warnings}
    assert "207 of 420" in kinds["zero-time"]
    assert "31%" in kinds["long-times"]
    assert {"place-is-document", "one-editor-decides", "too-few-editors"} <= set(kinds)
    assert {item.verdict for item in result.parity} == {"no parity"}
    narrow = {item.system: item.measures["distance"] for item in result.systems}
    assert narrow["Human"].high83 < narrow["Google"].low83
    assert math.isclose(found["Amazon", "Google", "distance"].difference, 1.43, abs_tol=0.01)


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2), st.integers(0, 3)),
        min_size=4, max_size=30, unique_by=lambda row: row[:2],
    )
)  # fmt: skip
def test_degrees_of_freedom_equal_the_rank_of_the_whole(rows: list[tuple[int, ...]]) -> None:
    editor, document, system, place = np.array(rows).T
    editor = np.unique(editor, return_inverse=True)[1]
    fixed = np.hstack([np.eye(3)[system], np.eye(4)[document][:, 1:], np.eye(4)[place][:, 1:]])
    whole = np.hstack([np.eye(editor.max() + 1)[editor], fixed])
    cell = editor * 4 + document
    assert _degrees(fixed, editor, cell) == len(rows) - np.linalg.matrix_rank(whole)
