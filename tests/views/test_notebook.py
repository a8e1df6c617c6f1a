"""Results show themselves in a notebook, as HTML and in full."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lxml import html

import assay
from assay.results import Result


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    world = assay.simulate(documents=30, systems=3, raters=2, rng=1)
    order = assay.sample(world.test_set, design="interleaved", budget="50%", rng=1)
    ratings = world.rate(order)
    estimates = assay.estimate(
        world.test_set, ratings, sample=order, by="domain", compare=("system-2", "system-1")
    )
    tried = assay.evaluate_estimators(
        world.test_set, world.rate(), methods=["baseline", "cv-knn"], sizes=[0.3], draws=3, rng=1
    )
    stops = assay.evaluate_stopping(world.test_set, world.rate(), half_width=0.8, draws=2, rng=1)
    listed: list[Any] = [
        estimates,
        estimates.comparison,
        estimates.breakdown,
        assay.rater_report(world.test_set, ratings, sample=order),
        assay.monitor(world.test_set, ratings, sample=order, half_width=0.5),
        assay.summarise_evaluation(tried, stopping=stops, half_width=0.8, test_set=world.test_set),
    ]
    return {item.kind: item for item in listed}


KINDS = ["estimates", "comparison", "breakdown", "raters", "monitoring", "evaluation"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_shows_itself(kind: str, results: dict[str, Result]) -> None:
    result = results[kind]
    tree = html.fromstring(result._repr_html_())
    assert tree.get("class") == "assay"
    assert result.signature in tree.text_content()
    assert not tree.xpath("//script | //link | //img")
    # The style stays inside: every rule is below the result's own class.
    rows = tree.xpath("//tbody/tr")
    assert all(len(row) == len(row.xpath("ancestor::table/thead/tr/th")) for row in rows)
    assert bool(rows) == (kind != "comparison")


def test_estimates_show_their_parts_too(results: dict[str, Result]) -> None:
    tree = html.fromstring(results["estimates"]._repr_html_())
    titles = [title.text for title in tree.xpath("//h3")]
    assert titles == [
        "Scores on the whole test set (lower is better)",
        "What to do next",
        "system-2 and system-1 compared",
        "The order with the metrics' help",
        "Scores by domain (lower is better)",
    ]
    assert len(tree.xpath("//*[local-name()='svg']")) == 1
    assert len(tree.xpath("//table[@class='bars']")) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_escaped(kind: str, results: dict[str, Result]) -> None:
    text = json.dumps(results[kind].to_dict())
    for name in ("system-1", "rater-1", "baseline"):
        text = text.replace(name, "<script>x</script>")
    changed = type(results[kind]).from_dict(json.loads(text))
    assert "<script>" not in changed._repr_html_()
    assert "&lt;script&gt;" in changed._repr_html_()
