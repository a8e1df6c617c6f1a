"""Kits from texts to verdicts, in Python and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Ran
from tests.kits.corpora import make_corpus

import assay
from assay.errors import InputError, OptionError
from assay.kits.corpus import CorpusText
from assay.kits.pieces import cut_pieces, pieces_from_features
from assay.kits.results import KitSet
from assay.results import Note

ALIKE = (4, 11, 17)


@pytest.fixture(scope="module")
def pieces() -> assay.Pieces:
    return cut_pieces([CorpusText("made", tuple(make_corpus(24, seed=8, alike=ALIKE)))], words=100)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text("\n".join(make_corpus(24, seed=8, alike=ALIKE)))
    return path


def test_the_closest_kit_of_a_made_corpus(pieces: assay.Pieces) -> None:
    found = assay.find_kits(pieces, methods=["likelihood", "bigrams", "frequent_words"], rng=1)
    (kit,) = found.kits
    low, spread = pieces.features.min(axis=0), np.ptp(pieces.features, axis=0)
    points = (pieces.features - low) / spread
    width = max(np.linalg.norm(points[a] - points[b]) for a, b in combinations(kit.pieces, 2))
    assert kit.diameter == pytest.approx(width)
    assert kit.percentile < 1.0
    assert sum(check.accepted for check in kit.terms) >= 2
    assert kit.length_ratio is not None
    assert kit.length_ratio <= 1.1 / 0.9
    assert found.to_frame()["piece"].to_list() == list(kit.pieces)
    assert found.signature.startswith("kits|closest|kits:1x3|pieces:24|features:flesch")


def test_the_percentile_counts_the_sets_as_close(pieces: assay.Pieces) -> None:
    free = assay.find_kits(pieces, length_tolerance=None, shared=None, density=None, rng=1)
    assert free.kits[0].percentile == pytest.approx(100 / 2024)  # the best of C(24, 3) sets
    assert free.kits[0].terms == ()
    assert free.methods == ()
    assert "terms were not compared: there is no limit on them" in free.notes


def test_random_sets_where_there_are_too_many() -> None:
    points = np.random.default_rng(2).random((300, 2))
    found = assay.find_kits(pieces_from_features(points), size=4, rng=3)
    again = assay.find_kits(pieces_from_features(points), size=4, rng=3)
    assert found.kits == again.kits
    assert 0 < found.kits[0].percentile < 0.01


def test_kits_are_disjoint_and_ever_wider(pieces: assay.Pieces) -> None:
    found = assay.find_kits(pieces, size=2, count=5, rng=1)
    members = [piece for kit in found.kits for piece in kit.pieces]
    assert len(set(members)) == 10
    widths = [kit.diameter for kit in found.kits]
    assert widths == sorted(widths)
    for kit in found.kits:
        assert kit.runner_up_diameter is not None
        assert kit.runner_up_diameter >= kit.diameter


def test_which_limits_bind() -> None:
    # The closest pair differs in length: without that limit the kit would be closer.
    points = [[0.0], [0.1], [0.3], [1.0]]
    found = assay.find_kits(
        pieces_from_features(points, words=[500, 900, 510, 905]), size=2, rng=0
    )  # fmt: skip
    assert found.kits[0].pieces == (0, 2)
    assert found.kits[0].binding == {"length": pytest.approx(0.1)}


def test_dbscan_finds_kits_inside_clusters(pieces: assay.Pieces) -> None:
    found = assay.find_kits(pieces, mode="dbscan", eps=0.3, count=2, rng=1)
    for kit in found.kits:
        assert any(set(kit.pieces) <= set(cluster) for cluster in found.clusters)
    by_knee = assay.find_kits(pieces, mode="dbscan", rng=1)
    assert by_knee.eps == by_knee.knee
    none = assay.find_kits(pieces, mode="dbscan", eps=1e-6, rng=1)
    assert none.kits == ()
    assert none.clusters == ()
    assert "0 of 1 kits of 3 pieces meet the limits (0 clusters have 0 pieces" in none.notes[-1]


def test_three_identical_pieces_share_their_terms() -> None:
    paragraphs = make_corpus(1, seed=1) * 3
    pieces = cut_pieces([CorpusText("same", tuple(paragraphs))], words=100)
    found = assay.find_kits(pieces, rng=0)
    assert found.kits == ()
    assert "shared (at most 20% of the terms)" in found.notes[-1]
    assert "without shared there would be one; widen it" in found.notes[-1]
    assert found.notes[0].startswith("features ignored, being equal in all pieces: flesch, lix")
    free = assay.find_kits(pieces, shared=None, density=None, rng=0)
    assert (free.kits[0].pieces, free.kits[0].diameter) == ((0, 1, 2), 0.0)
    assert free.knee is None
    with pytest.raises(InputError, match=r"have no knee .*; give `eps`, or set `mode` to closest"):
        assay.find_kits(pieces, mode="dbscan")


def test_too_few_pieces(pieces: assay.Pieces) -> None:
    one = pieces_from_features([[1.0, 2.0]])
    with pytest.raises(InputError, match=r"1 piece cannot make 1 kit of 3; give more text"):
        assay.find_kits(one)
    with pytest.raises(InputError, match=r"24 pieces cannot make 9 kits of 3"):
        assay.find_kits(pieces, count=9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 1}, r"size \(1\) is too few for a kit; give at least 2"),
        ({"count": 0}, r"count \(0\) is not a number of kits"),
        ({"mode": "kmeans"}, r"mode \(kmeans\) is not a mode; choose closest or dbscan"),
        ({"eps": 0.1}, r"eps \(0.1\) is for the mode dbscan"),
        ({"mode": "dbscan", "eps": 0.0}, r"eps \(0.0\) is not a radius"),
        ({"length_tolerance": 10}, r"length_tolerance \(10\) is not a share; give 0.1 for ±10%"),
        ({"shared": 20}, r"shared \(20\) is not a share"),
        ({"density": 0.5}, r"density \(0.5\) is not a ratio; give a number from 1 up"),
        ({"methods": ["topia"]}, r"methods \(topia\) is not a method"),
        ({"methods": []}, r"methods \(\) names none; name at least one method"),
        ({"rng": -1}, r"rng \(-1\) is not a seed"),
    ],
)
def test_bad_options(pieces: assay.Pieces, options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        assay.find_kits(pieces, **options)  # type: ignore[arg-type]


def test_methods_need_text() -> None:
    pieces = pieces_from_features(np.eye(4))
    with pytest.raises(OptionError, match=r"methods \(pmi\) need text; give pieces with text"):
        assay.find_kits(pieces, methods=["pmi"])


def test_the_paper_s_kit(shared_data: Path) -> None:
    pieces = assay.read_pieces(shared_data / "effectiff_corpus.tsv.gz")
    methods = ["frequent_words", "likelihood", "pmi", "combo_basic", "bigrams"]
    found = assay.find_kits(pieces, methods=methods, rng=0)
    (kit,) = found.kits
    assert kit.pieces == (12, 24, 25)
    assert round(kit.diameter, 4) == 0.1216
    assert kit.percentile == pytest.approx(100 / 62_196)
    assert kit.binding == {}
    assert found.knee == pytest.approx(0.2812415593714895, abs=1e-12)
    free = assay.find_kits(pieces, shared=None, density=None, length_tolerance=None, rng=0)
    assert round(free.kits[0].runner_up_diameter or 0, 4) == 0.1470
    clustered = assay.find_kits(pieces, mode="dbscan", eps=0.14, methods=methods, rng=0)
    assert clustered.clusters == ((12, 24, 25),)
    assert clustered.kits[0].pieces == (12, 24, 25)


def test_the_command(book: Path, tmp_path: Path, run_assay: Callable[..., Ran]) -> None:
    options = ("--words", 100, "--count", 2, "--terms", "likelihood,bigrams", "--seed", 0)
    ran = run_assay("kits", "find", book, *options, "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert {"kind", "version", "signature", "knee", "clusters"} <= set(result)
    assert {"piece", "words", "features"} <= set(result["pieces"][0])
    assert {"pieces", "diameter", "percentile", "shared_terms", "density_ratio"} <= set(
        result["kits"][0]
    )
    assert len(result["pieces"]) == 24
    assert run_assay("kits", "find", book, *options, "--json").out == ran.out


def test_what_the_command_prints_and_writes(
    book: Path, tmp_path: Path, run_assay: Callable[..., Ran]
) -> None:
    made = [tmp_path / name for name in ("kits.json", "kits.svg", "kits.tsv")]
    ran = run_assay(
        "kits", "find", book, "--words", 100, "--mode", "dbscan", "--eps", 0.4,
        "--terms", "likelihood", "--shared", "none",
        "-o", made[0], "--figure", made[1], "--texts", made[2],
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "Alike documents" in ran.out
    assert "Pieces in each cluster within 0.4000: " in ran.out
    assert "Limits that keep the first kit from being closer:" in ran.out
    assert "<svg" in made[1].read_text()
    lines = made[2].read_text().splitlines()
    assert lines[0] == "kit\tdoc\tseg\tparagraph\tsource"
    assert len(lines) == 1 + 3 * 9  # three pieces of three paragraphs of three sentences


def test_the_command_says_when_there_is_no_kit(book: Path, run_assay: Callable[..., Ran]) -> None:
    made = book.parent / "none.json"
    arguments = (
        "kits",
        "find",
        book,
        "--words",
        100,
        "--length-tolerance",
        0,
        "--pieces",
        6,
        "-o",
        made,
    )
    ran = run_assay(*arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert ran.out == ""
    assert "no kit was found: 0 of 1 kits of 6 pieces meet the limits (length (±0%)" in ran.err
    assert "without length there would be one; widen it" in ran.err
    assert not made.exists()
    assert run_assay(*arguments, "--json").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--length-tolerance", "wide"),
            "--length-tolerance (wide) is not a limit; give a number, or none",
        ),
        (("--figure", "kits.gif"), "is not a kind of figure"),
        (("--words", "100000"), "the texts make no piece of 100000 words"),
        (("--pieces", "30"), "cannot make 1 kit of 30"),
    ],
)
def test_bad_commands(
    book: Path, run_assay: Callable[..., Ran], arguments: tuple[str, ...], message: str
) -> None:
    given = ("--words", 100) if "--words" not in arguments else ()
    ran = run_assay("kits", "find", book, *given, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_the_command_refuses_to_write_over_the_corpus(
    book: Path, run_assay: Callable[..., Ran]
) -> None:
    ran = run_assay("kits", "find", book, "--texts", book)
    assert ran.code == 2
    assert "is an input file" in ran.err


def test_the_remedy_names_what_is_in_the_way() -> None:
    points = [[0.0, 0.0], [0.0, 0.1], [0.1, 0.0], [1.0, 1.0]]
    lengths = pieces_from_features(points, words=[100, 200, 400, 800])
    found = assay.find_kits(lengths, rng=0)
    assert found.kits == ()
    assert "length (±10%) rules out 6 pairs" in found.notes[-1]
    assert "without length there would be one" in found.notes[-1]
    apart = assay.find_kits(lengths, mode="dbscan", eps=0.01, length_tolerance=None, rng=0)
    assert "a larger radius, the mode closest" in apart.notes[-1]
    both = cut_pieces(
        [CorpusText("same", tuple(make_corpus(1, seed=1) * 3)),
         CorpusText("long", tuple(make_corpus(1, seed=1) * 4))], words=100,
    )  # fmt: skip
    assert "share" in assay.find_kits(both, size=4, rng=0).notes[-1]


def test_progress_is_told_for_every_piece_looked_at(pieces: assay.Pieces) -> None:
    seen: list[tuple[str, int, int]] = []
    found = assay.find_kits(pieces, rng=0, progress=lambda *told: seen.append(told))
    assert found.kits
    assert seen == [("terms of pieces", k, len(pieces)) for k in range(1, len(seen) + 1)]
    assert 3 <= len(seen) <= len(pieces)


def test_a_saved_result_comes_back(pieces: assay.Pieces) -> None:
    for found in (
        assay.find_kits(pieces, count=2, rng=1),
        assay.find_kits(pieces, mode="dbscan", eps=0.3, shared=None, density=None, rng=1),
    ):
        assert KitSet.from_dict(json.loads(json.dumps(found.to_dict()))) == found
        assert all(isinstance(note, Note) for note in found.notes)
