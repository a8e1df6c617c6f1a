"""The tables themselves: what they know about their rows."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest

from assay.errors import InputError, OptionError, TableError
from assay.tables.answers import read_edits, read_errors, read_judgments
from assay.tables.history import add_history
from assay.tables.tables import Design, TestSet, read_ratings, read_sample, read_scores

SCORES = pl.DataFrame(
    {
        "system": ["A"] * 4 + ["B"] * 3,
        "doc": ["d2", "d2", "d1", "d1", "d2", "d1", "d1"],
        "seg": ["10", "2", "1", "2", "2", "1", "2"],
        "domain": ["news", "news", "talk", "talk", None, "talk", "talk"],
        "chrF": [0.1, 0.2, 0.3, 0.4, 0.5, None, 0.7],
        "TER": [9, 8, 7, 6, 5, 4, 3],
        "note": ["x"] * 7,
    }
)


@pytest.fixture
def test_set() -> TestSet:
    return read_scores(SCORES)


class TestScores:
    def test_metrics_are_the_numeric_columns(self, test_set: TestSet) -> None:
        assert test_set.metrics == ("chrF", "TER")
        assert not test_set.named

    def test_named_metrics_only(self) -> None:
        chosen = read_scores(SCORES, metrics=["TER"], lower_metrics=["TER"])
        assert chosen.metrics == ("TER",)
        assert chosen.lower_metrics == {"TER"}
        assert chosen.named

    def test_segments_are_in_reading_order(self, test_set: TestSet) -> None:
        # Documents as in the file, segments by number: 2 before 10.
        rows = test_set.segments.select("doc", "seg", "domain").rows()
        assert rows == [
            ("d2", "2", "news"), ("d2", "10", "news"), ("d1", "1", "talk"), ("d1", "2", "talk"),
        ]  # fmt: skip
        assert test_set.documents.rows() == [("d2", 2), ("d1", 2)]

    def test_segments_that_are_no_numbers_keep_the_order_of_the_file(self) -> None:
        frame = pl.DataFrame({"system": ["A"] * 3, "seg": ["10", "b", "2"]})
        plain = read_scores(frame)
        assert plain.segments["seg"].to_list() == ["10", "b", "2"]
        assert not plain.has_documents
        assert plain.documents.rows() == [(3,)]

    def test_matrix_is_systems_by_segments(self, test_set: TestSet) -> None:
        expected = [[0.2, 0.1, 0.3, 0.4], [0.5, np.nan, np.nan, 0.7]]
        np.testing.assert_array_equal(test_set.matrix("chrF"), expected)
        assert test_set.present.tolist() == [[True] * 4, [True, False, True, True]]

    def test_missing_values_and_segments_are_counted(self, test_set: TestSet) -> None:
        assert test_set.notes == (
            "chrF: 1 of 7 values missing",
            "1 of 2 systems lack some of the 4 segments: B 3",
        )

    def test_many_short_systems_are_summarised(self) -> None:
        systems = [f"s{i}" for i in range(7) for _ in range(1)]
        frame = pl.DataFrame({"system": ["full", "full", *systems], "seg": ["1", "2", *["1"] * 7]})
        assert "and 2 more" in read_scores(frame).notes[0]

    def test_excluded_systems_are_left_out(self) -> None:
        left = read_scores(SCORES, exclude=["B"])
        assert left.systems == ("A",)
        assert left.excluded == ("B",)
        assert left.notes[0] == "left out: B"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"exclude": ["C"]}, r"exclude \(C\) is not in the scores table"),
            ({"exclude": ["A", "B"]}, "leaves no system; keep at least one"),
            ({"metrics": ["chrf"]}, "did you mean 'chrF'"),
            ({"metrics": ["doc"]}, r"metrics \(doc\) is not"),
            ({"lower_metrics": ["TERR"]}, "did you mean 'TER'"),
            (
                {"columns": {"sgm": "x"}},
                r"`columns` \(sgm=x\): .* has no column 'sgm'.* it has system",
            ),
            ({"columns": {"words": "wrds"}}, "which is not in the table"),
        ],
    )
    def test_wrong_options_are_refused(self, options: dict[str, object], message: str) -> None:
        with pytest.raises(InputError, match=message):
            read_scores(SCORES, **options)  # type: ignore[arg-type]

    def test_a_mapping_wins_over_a_column_of_that_name(self) -> None:
        frame = pl.DataFrame({"system": ["A", "A"], "seg": [1, 1], "seg_id": [1, 2]})
        assert read_scores(frame, columns={"seg": "seg_id"}).segments["seg"].to_list() == ["1", "2"]

    def test_columns_can_be_swapped(self) -> None:
        frame = pl.DataFrame({"doc": ["1", "2"], "seg": ["d", "d"], "system": ["A", "A"]})
        mapped = read_scores(frame, columns={"doc": "seg", "seg": "doc"})
        assert mapped.segments.rows() == [("d", "1"), ("d", "2")]

    def test_metric_named_but_not_numeric(self) -> None:
        with pytest.raises(TableError, match="'x' is not a number"):
            read_scores(SCORES, metrics=["note"])

    def test_date_column_as_metric(self) -> None:
        frame = SCORES.with_columns(day=pl.date(2020, 1, 1))
        assert "day" not in read_scores(frame).metrics
        with pytest.raises(TableError, match="instead of numbers"):
            read_scores(frame, metrics=["day"])

    def test_split_by_a_column(self) -> None:
        frame = pl.concat([SCORES.with_columns(lp=pl.lit(lp)) for lp in ("en-de", "zh-en")])
        both = read_scores(frame)
        parts = both.split("lp")
        assert list(parts) == ["en-de", "zh-en"]
        assert parts["zh-en"].segments.height == 4
        assert both.segments.height == 8
        with pytest.raises(
            OptionError, match=r"by \(lpp\) is not a column of the scores \(did you"
        ):
            both.split("lpp")

    def test_tables_cannot_be_changed(self, test_set: TestSet) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            test_set.metrics = ()  # type: ignore[misc]

    def test_list_columns_are_kept_as_text_keys(self) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": [[1, 2]]})
        assert read_scores(frame).frame["seg"][0] == "[1, 2]"


class TestRatings:
    def test_document_is_filled_in_where_seg_is_enough(self, test_set: TestSet) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": ["10"], "score": [3.0]})
        assert read_ratings(frame, test_set).frame["doc"].to_list() == ["d2"]

    def test_document_is_needed_where_seg_repeats(self, test_set: TestSet) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": ["2"], "score": [3.0]})
        with pytest.raises(TableError, match="is in several documents of the test set; add doc"):
            read_ratings(frame, test_set)

    def test_output_that_the_system_lacks(self, test_set: TestSet) -> None:
        frame = pl.DataFrame({"system": ["B"], "doc": ["d2"], "seg": ["10"], "score": [3.0]})
        with pytest.raises(TableError, match="no translation by this system"):
            read_ratings(frame, test_set)

    def test_an_empty_column_is_none(self) -> None:
        rows = {"system": ["A", "B"], "doc": [None, ""], "seg": ["1", "1"]}
        scores = read_scores(pl.DataFrame(rows))
        assert not scores.has_documents
        assert [note.code for note in scores.notes] == ["empty-column"]
        ratings = read_ratings(pl.DataFrame(rows | {"score": [1.0, 2.0], "rater": [None, None]}))
        assert ratings.frame.columns == ["system", "seg", "score"]

    def test_the_first_rating_of_an_output_counts(self, test_set: TestSet) -> None:
        frame = pl.DataFrame(
            {"system": ["A"] * 3, "seg": ["10"] * 3, "rater": ["x"] * 3, "score": [None, 1.0, 2.0]}
        )
        ratings = read_ratings(frame, test_set)
        assert ratings.frame["score"].to_list() == [1.0]
        assert ratings.repeats["score"].to_list() == [2.0]

    def test_a_task_is_text_that_stays_with_its_rating(self, test_set: TestSet) -> None:
        frame = pl.DataFrame(
            {"system": ["A", "A"], "seg": ["10", "1"], "task": [7.0, None], "score": [1.0, 2.0]}
        )
        ratings = read_ratings(frame, test_set)
        assert ratings.genuine["task"].to_list() == ["7", None]
        assert read_ratings(ratings.to_frame(), test_set).frame["task"].to_list() == ["7", None]

    def test_excluded_systems_are_dropped_and_counted(self) -> None:
        frame = pl.DataFrame(
            {"system": ["A", "B"], "doc": ["d2", "d2"], "seg": ["2", "2"], "score": [1.0, 2.0]}
        )
        ratings = read_ratings(frame, read_scores(SCORES, exclude=["B"]))
        assert ratings.frame["system"].to_list() == ["A"]
        assert ratings.notes == ("1 rows of excluded systems left out",)

    def test_raters_are_averaged_in_the_matrix(self, test_set: TestSet) -> None:
        frame = pl.DataFrame(
            {"system": ["A", "A"], "doc": ["d2"] * 2, "seg": ["2"] * 2, "rater": ["r", "s"],
             "score": [1.0, 4.0]}
        )  # fmt: skip
        ratings = read_ratings(frame, test_set, better="lower", range=(0, 25))
        assert ratings.raters == ("r", "s")
        assert ratings.matrix(test_set)[0, 0] == 2.5
        assert ratings.matrix(test_set, rater="s")[0, 0] == 4
        assert np.isnan(ratings.matrix(test_set)).sum() == 7

    def test_rows_without_a_score_are_not_rated(self) -> None:
        ratings = read_ratings(
            pl.DataFrame({"system": ["A"] * 2, "seg": [1, 2], "score": [1, None]})
        )
        assert ratings.unrated == 1
        assert ratings.raters == ()
        assert ratings.notes == ("1 of 2 rows have no score and count as not rated",)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"better": "up"}, r"better \(up\) is not a direction; give higher or lower"),
            ({"range": (5, 5)}, r"range \(5,5\) is empty"),
        ],
    )
    def test_wrong_options_are_refused(self, options: dict[str, object], message: str) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": [1], "score": [1]})
        with pytest.raises(OptionError, match=message):
            read_ratings(frame, **options)  # type: ignore[arg-type]

    def test_a_column_that_is_the_ratings_is_no_metric(self) -> None:
        values = np.arange(20.0)
        frame = pl.DataFrame(
            {
                "system": ["A"] * 20,
                "seg": range(20),
                "mine": values,
                "chrF": values % 7,
                "flat": 1.0,
            }
        )
        with pytest.raises(OptionError, match=r"\(mine\) is almost the same as the ratings"):
            read_ratings(frame, read_scores(frame), columns={"score": "mine"})
        named = read_scores(frame, metrics=["mine"])
        ratings = read_ratings(frame, named, columns={"score": "mine"})
        assert len(ratings) == 20
        assert [note.code for note in ratings.notes] == ["metric-like-answers"]

    def test_ratings_by_their_names_are_no_metrics(self) -> None:
        rated = ["mqm", "mqm_r1", "mqm.avg", "da_z", "da_raw", "da_sqm", "psqm_r3", "human_score"]
        metrics = ["GEMBA-MQM", "COMET-MQM", "docWMT22CometDA", "MetricX-23", "esim", "YiSi-1"]
        frame = pl.DataFrame({"system": ["A"] * 2, "seg": [1, 2]}).with_columns(
            pl.Series([0.1, 0.2]).alias(name) for name in (*rated, *metrics)
        )
        test_set = read_scores(frame)
        assert list(test_set.metrics) == metrics
        (note,) = [note for note in test_set.notes if note.code == "ratings-not-metrics"]
        assert all(name in note for name in rated)
        assert read_scores(frame, metrics=["mqm_r1"]).metrics == ("mqm_r1",)

    def test_answers_in_disguise_are_no_metrics(self) -> None:
        rng = np.random.default_rng(1)
        parts = rng.normal(0, 1, (3, 60))
        score = parts.sum(axis=0)
        base = {"system": ["A"] * 30 + ["B"] * 30, "seg": [*range(30)] * 2}
        ratings = pl.DataFrame(base | {"score": score})
        shifted = pl.DataFrame(base | {"other": score + np.repeat([0.0, 50.0], 30)})
        with pytest.raises(OptionError, match=r"\(other\) is almost the same as the ratings"):
            read_ratings(ratings, read_scores(shifted))
        apart = pl.DataFrame(base | {f"m{k}": part for k, part in enumerate(parts)})
        with pytest.raises(OptionError, match="\\) together are almost the same as the ratings"):
            read_ratings(ratings, read_scores(apart))
        mine = ratings.rename({"score": "opinion"})
        like = pl.DataFrame(base | {"opinion_2": rng.normal(0, 1, 60)})
        with pytest.raises(OptionError, match="is named like the score 'opinion'"):
            read_ratings(mine, read_scores(like), columns={"score": "opinion"})
        with pytest.raises(OptionError, match=r"\(other\) is almost the same as the ratings"):
            add_history(read_scores(shifted), read_ratings(ratings))

    def test_errors_are_checked_against_the_test_set(self, test_set: TestSet) -> None:
        row = {"system": "C", "doc": "d2", "seg": "2", "category": "X", "severity": "Major"}
        with pytest.raises(TableError, match="'C' is not in the test set"):
            read_errors(pl.DataFrame([row]), test_set)


class TestJudgments:
    @pytest.mark.parametrize("words", [["<", ">", "="], ["1", "2", "0"], [1.0, 2.0, 0.0]])
    def test_winners_in_other_words(self, words: list[object]) -> None:
        rows = pl.DataFrame({"left": ["A"] * 3, "right": ["B"] * 3, "winner": words})
        judgments = read_judgments(rows)
        assert judgments.frame["winner"].to_list() == ["left", "right", "tie"]
        (note,) = judgments.notes
        assert note.code == "values-read"
        assert " as left, " in note
        assert "was assumed" in note

    def test_winners_that_could_mean_two_things_are_refused(self) -> None:
        rows = {"left": ["A"] * 2, "right": ["B"] * 2}
        with pytest.raises(TableError, match="where there is no 2, 0 may be a tie or a loss"):
            read_judgments(pl.DataFrame({**rows, "winner": [0, 1]}))
        with pytest.raises(TableError, match="'>' is not one of left, right, tie"):
            read_judgments(pl.DataFrame({**rows, "winner": ["left", ">"]}))

    def test_excluded_systems(self) -> None:
        frame = pl.DataFrame({"left": ["A", "A"], "right": ["B", "C"], "winner": ["tie", "left"]})
        judgments = read_judgments(frame, exclude=["C"])
        assert judgments.systems == ("A", "B")
        assert judgments.notes == ("1 judgments of excluded systems left out",)
        with pytest.raises(OptionError, match=r"exclude \(D\) is not among the judged systems"):
            read_judgments(frame, exclude=["D"])


def test_edits_keep_empty_text() -> None:
    row = {"system": "A", "doc": "d", "seg": 1, "editor": "E", "mt": None, "edited": "x"}
    assert read_edits(pl.DataFrame([row])).frame["mt"].to_list() == [""]


class TestSample:
    def test_probabilities_by_position(self, test_set: TestSet) -> None:
        frame = pl.DataFrame(
            {"doc": ["d2", "d1"], "seg": ["10", "2"], "probability": [0.5, 0.25],
             "design": ["segments|n:2|N:4|seed:0"] * 2}
        )  # fmt: skip
        sample = read_sample(frame, test_set)
        assert sample.matched
        assert sample.design.seed == 0
        nan = np.nan
        expected = [[nan, 0.5, nan, 0.25], [nan, nan, nan, 0.25]]
        np.testing.assert_array_equal(sample.probabilities(test_set), expected)

    def test_per_system_samples(self, test_set: TestSet) -> None:
        frame = pl.DataFrame(
            {"system": ["A"], "doc": ["d2"], "seg": ["2"], "probability": [0.5], "design": ["x"]}
        )
        sample = read_sample(frame, test_set)
        assert not sample.matched
        assert np.isnan(sample.probabilities(test_set)).sum() == 7

    def test_segment_outside_the_test_set(self, test_set: TestSet) -> None:
        frame = pl.DataFrame({"doc": ["d9"], "seg": ["1"], "probability": [1], "design": ["x"]})
        with pytest.raises(TableError, match="segment '1' is not in the test set in this document"):
            read_sample(frame, test_set)


class TestDesign:
    def test_survives_its_own_text(self) -> None:
        design = Design("snippets-linear", {"n": "12", "seed": "7", "strata": "a=b,c"})
        assert Design.parse(str(design)) == design
        assert design.seed == 7
        assert Design("x").seed is None

    @pytest.mark.parametrize("text", ["", "Segments", "a|b", "a|:c", "a b", "a|b:c|"])
    def test_other_text_is_refused(self, text: str) -> None:
        with pytest.raises(InputError, match="is not a design; expected name|key:value"):
            Design.parse(text)

    def test_parameters_cannot_break_the_text(self) -> None:
        with pytest.raises(InputError, match="is not a design"):
            Design("x", {"a": "b|c"})

    def test_parameters_cannot_be_changed(self) -> None:
        with pytest.raises(TypeError):
            Design("x", {"a": "b"}).parameters["a"] = "c"  # type: ignore[index]


class TestLength:
    def test_target_length_is_a_metric_for_free(self) -> None:
        frame = pl.DataFrame(
            {"system": ["A", "A"], "seg": [1, 2], "target": ["ab", None], "chrF": [0.1, 0.2]}
        )
        found = read_scores(frame, metrics=["chrF", "length"])
        assert found.metrics == ("chrF", "length")
        assert found.lower_metrics == {"length"}
        assert found.frame["length"].to_list() == [2.0, None]
        assert read_scores(frame).metrics == ("chrF",)

    def test_a_column_of_that_name_comes_first(self) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": [1], "target": ["ab"], "length": [7.0]})
        assert read_scores(frame, metrics=["length"]).frame["length"].to_list() == [7.0]

    def test_without_texts_there_is_none(self) -> None:
        frame = pl.DataFrame({"system": ["A"], "seg": [1], "chrF": [7.0]})
        with pytest.raises(OptionError, match="'?length'?.* is not in the scores table"):
            read_scores(frame, metrics=["length"])
