"""Other people's tables: guessed right or asked, never wrong in silence."""

from __future__ import annotations

import pytest
from tests.tables.guess_cases import BEFORE, Case


@pytest.mark.parametrize("case", BEFORE, ids=lambda case: case.name)
def test_what_a_case_expects_is_in_its_table(case: Case) -> None:
    told = [*case.columns.values(), *case.metrics, *case.not_metrics]
    told += [name for names in case.melted.values() for name in names]
    assert {*told} <= {*case.frame.columns}
