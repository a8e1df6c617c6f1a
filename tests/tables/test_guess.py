"""Other people's tables: guessed right or asked, never wrong in silence."""

from __future__ import annotations

import pytest
from tests.tables.guess_cases import BEFORE, Case

import assay


@pytest.mark.parametrize("case", BEFORE, ids=lambda case: case.name)
def test_a_table_is_guessed_right_or_asked_about(case: Case) -> None:
    found = assay.guess(case.frame)
    if case.asks is not None:
        assert found.questions, found.sentence
        assert case.asks in str(found.questions[0])
        with pytest.raises(assay.errors.InputError, match="Say it with `(kind|columns)`"):
            found.need_answers()
        return
    assert found.questions == ()
    assert found.table == case.kind
    assert dict(found.columns) == dict(case.columns)
    for into, columns in case.melted.items():
        assert (found.into, list(found.melted)) == (into, list(columns))
    assert found.layout == ("wide" if case.melted else "long")
    assert list(found.metrics) == list(case.metrics)
    assert {*case.not_metrics} <= {*found.counts, *found.ratings}
