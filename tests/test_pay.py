"""Money and time: read as people write them, said in one way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError, OptionError
from assay.pay import parse_amount, parse_pay, pay_of, ratings_for
from assay.results import UNPAID, Costs, time_text


@pytest.mark.parametrize(
    ("text", "costs"),
    [
        ("0.12 EUR per rating", Costs(per_rating=0.12, currency="EUR")),
        ("€0.12/rating", Costs(per_rating=0.12, currency="€")),
        ("0.25 USD a judgment", Costs(per_rating=0.25, currency="USD")),
        ("1.20 EUR per task", Costs(per_task=1.2, currency="EUR")),
        ("18 EUR per hour", Costs(per_hour=18, currency="EUR")),
        ("18 EUR/h, 40 s per rating",
         Costs(per_hour=18, seconds_per_rating=40, currency="EUR")),
        ("2 min per rating and 1,000 JPY per hour",
         Costs(per_hour=1000, seconds_per_rating=120, currency="JPY")),
    ],
)  # fmt: skip
def test_prices(text: str, costs: Costs) -> None:
    assert parse_pay(text) == costs == parse_pay(costs.text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("0.12", "is not a price"), ("", "is not a price"), ("0.12 per rating", "is not a price"),
        ("0.12 euros per rating", "unit 'euros'"), ("1 EUR per word", "per 'word'"),
        ("1 EUR per rating, 2 EUR per hour", "states it twice"),
        ("0 s per rating", "takes no time"), ("1 EUR per rating, 2 EUR per rating", "twice"),
    ],
)  # fmt: skip
def test_what_is_no_price_is_refused(text: str, fault: str) -> None:
    with pytest.raises(OptionError, match=fault):
        parse_pay(text)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_prices_that_make_no_sense_are_refused(value: float) -> None:
    with pytest.raises(OptionError, match="is not a price"):
        pay_of(Costs(per_rating=value))
    with pytest.raises(OptionError, match="takes no time"):
        pay_of(Costs(seconds_per_rating=0))


def test_what_amounts_buy() -> None:
    costs = parse_pay("18 EUR per hour, 40 s per rating")
    assert costs.price == pytest.approx(0.2)
    assert ratings_for(costs, parse_amount("20 hours")) == 1800
    assert ratings_for(costs, parse_amount("300 EUR")) == pytest.approx(1500)
    assert ratings_for(costs, parse_amount("15,000 ratings")) == 15_000
    assert costs.counted(1800) == "1,800 more ratings (360 EUR, 20 h)"
    assert UNPAID.counted(640) == "640 more ratings"
    with pytest.raises(OptionError, match=r"is not in EUR"):
        ratings_for(costs, parse_amount("300 USD"))
    with pytest.raises(InputError, match="what a rating costs is not known.*18 EUR per hour, 40 s"):
        ratings_for(parse_pay("18 EUR per hour"), parse_amount("300 EUR"))
    with pytest.raises(InputError, match="how long a rating takes is not known"):
        ratings_for(UNPAID, parse_amount("3 h"))
    with pytest.raises(OptionError, match="buys unlimited"):
        ratings_for(parse_pay("0 EUR per rating"), parse_amount("300 EUR"))


def test_ratings_that_say_how_long_they_took() -> None:
    assert Costs(per_hour=36).timed(100.0).price == pytest.approx(1)
    assert Costs(seconds_per_rating=20).timed(100.0).seconds_per_rating == 20
    assert UNPAID.timed(None) is UNPAID


@given(st.floats(0, 1e7))
def test_times_are_never_said_with_sixty_minutes(minutes: float) -> None:
    assert "60 min" not in time_text(minutes)


@pytest.mark.parametrize("text", ["0 ratings", "0 h", "0.0 EUR"])
def test_nothing_buys_nothing(text: str) -> None:
    with pytest.raises(OptionError, match="buys nothing; give more than 0"):
        parse_amount(text)
