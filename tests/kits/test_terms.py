"""Terms by each method, and the limits on them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kits.corpora import make_corpus

import assay
from assay.errors import OptionError
from assay.kits.corpus import CorpusText
from assay.kits.pieces import Piece, Pieces, cut_pieces
from assay.kits.results import Limits
from assay.kits.terms import (
    METHODS,
    TermBook,
    Terms,
    Words,
    choose_methods,
    common_words,
    function_words,
    likelihood_ratio,
)

LINES = (
    "Critical data studies examine the neural network .",
    "A neural network is not a brain , and the neural network learns .",
    "Zebras and neural zebras like critical data .",
)


@pytest.fixture
def words() -> Words:
    piece = Piece("d", 1, 1, 30, LINES, LINES)
    return Words.of(piece, function_words("en", ()), common_words("en"))


def test_frequent_words(words: Words) -> None:
    found = METHODS["frequent_words"](words)
    assert found == Terms(frozenset({"neural", "zebras", "examine"}), 7)


def test_bigrams(words: Words) -> None:
    found = METHODS["bigrams"](words)
    assert found.terms == {"critical data", "data studies", "studies examine", "neural network",
                           "network learns", "neural zebras"}  # fmt: skip
    assert found.occurrences == 2 + 3  # critical data, neural network


def test_combo_basic(words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    # By hand: 'neural' is in 3 candidates, log 4 + .75 x 3 = 3.64; 'neural network' in 1 and has
    # 2 parts, 2 log 3 + .75 + .2 = 3.15; 'data' in 5, log 2 + .75 x 5 = 4.44.
    monkeypatch.setattr("assay.kits.terms.BEST_TERMS", 1)
    found = METHODS["combo_basic"](words)
    assert found == Terms(frozenset({"data"}), 2)


def test_collocations_against_nltk() -> None:
    # An outside value: nltk's association measures on the same counts.
    measures = pytest.importorskip("nltk.metrics").BigramAssocMeasures
    for both, left, right, total in [(3, 4, 5, 100), (1, 1, 1, 50), (8, 8, 20, 400)]:
        theirs = measures.likelihood_ratio(both, (left, right), total)
        assert likelihood_ratio(both, left, right, total) == pytest.approx(theirs, abs=1e-6)


def test_likelihood_prefers_what_repeats_and_pmi_what_is_rare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = CorpusText("d", (" ".join(["neural network runs."] * 20 + ["odd zebra sits."]),))
    piece = cut_pieces([text], words=50, shortest=1).pieces[0]
    words = Words.of(piece, function_words("en", ()), common_words("en"))
    monkeypatch.setattr("assay.kits.terms.BEST_TERMS", 1)
    assert METHODS["likelihood"](words).terms == {"neural network"}
    assert METHODS["pmi"](words).terms == {"odd zebra"}


def test_methods_are_known_by_name() -> None:
    everything = ["frequent_words", "likelihood", "pmi", "combo_basic", "bigrams"]
    assert list(choose_methods(None)) == everything
    assert list(choose_methods(["pmi"])) == ["pmi"]
    with pytest.raises(OptionError, match=r"methods \(pmii\) is not a method \(did you mean 'pmi'"):
        choose_methods(["pmii"])


def test_a_method_of_one_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "none", lambda words: Terms(frozenset(), len(words.sentences)))
    text = CorpusText("made", tuple(make_corpus(6, seed=1)))
    found = assay.find_kits(cut_pieces([text], words=100), methods=["none"], rng=0)
    (check,) = found.kits[0].terms
    assert (check.method, check.shared_terms, check.density_ratio) == ("none", 0.0, 1.0)


def test_other_languages_take_what_pieces_have_in_common() -> None:
    pieces = [Piece("d", 1, 1, 3, (), (f"der hund {word}",)) for word in ("a", "b", "c")]
    assert function_words("de", pieces) == {"der", "hund"}
    assert not common_words("de")("hund")


def book_of(*terms: Terms, method: str = "likelihood", limits: Limits | None = None) -> TermBook:
    pieces = tuple(Piece("d", k, k, 10) for k in range(len(terms)))
    given = iter(terms)
    whole = Pieces(pieces, ("x",), np.zeros((len(terms), 1)))
    book = TermBook(whole, {method: lambda words: next(given)}, limits or Limits())
    for number in range(len(terms)):
        book.terms(number)
    return book


def terms(names: str, occurrences: int) -> Terms:
    return Terms(frozenset(names.split()), occurrences)


def test_shared_terms_and_density() -> None:
    book = book_of(terms("a b c d e", 10), terms("a f g h i", 13), terms("a b j k l", 14))
    assert book.accepting(0, 1) == (1, 1)  # one of five, 1.3-fold: both still allowed
    assert book.accepting(0, 2) == (0, 0)  # two of five, 1.4-fold
    (verdict,) = book.check((0, 1, 2))
    assert (verdict.shared_terms, verdict.density_ratio, verdict.accepted) == (0.4, 1.4, False)


def test_the_limits_of_bigrams_are_their_own() -> None:
    names = " ".join(f"t{k}" for k in range(200))
    more = " ".join(f"t{k}" for k in range(197, 397))
    book = book_of(terms(names, 4), terms(more, 2), terms(more, 0), method="bigrams")
    assert book.accepting(0, 1) == (1, 1)  # 3 of 397, 4 / (2 + 1)
    assert book.accepting(0, 2) == (1, 0)  # 4 / (0 + 1)
    assert book.accepting(1, 2) == (0, 1)


def test_pieces_without_terms() -> None:
    book = book_of(terms("", 0), terms("", 0), terms("a", 1))
    assert book.accepting(0, 1) == (1, 1)
    assert book.accepting(0, 2) == (1, 0)


def test_terms_are_extracted_when_asked_for() -> None:
    paragraphs = make_corpus(5, seed=1)
    pieces = cut_pieces([CorpusText("made", tuple(paragraphs))], words=100)
    book = TermBook(pieces, {"bigrams": METHODS["bigrams"]}, Limits())
    assert book.extracted == 0
    book.accepting(1, 3)
    assert book.extracted == 2
    assert book.needed == 1


def test_function_words_of_other_languages_are_in_more_than_half_of_the_pieces() -> None:
    texts = ["der hund bellt", "der hund schläft", "der mond", "die sonne"]
    pieces = [Piece("d", k, k, 3, (text,), (text,)) for k, text in enumerate(texts)]
    assert function_words("de", pieces) == {"der"}
    assert function_words("de", pieces[:1]) == frozenset()
