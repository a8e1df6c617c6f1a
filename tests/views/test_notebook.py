"""Results show themselves in a notebook, as HTML and in full."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lxml import html

import assay
from assay.errors import InputError
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


def test_the_style_stays_inside_the_result(results: dict[str, Result]) -> None:
    style = html.fromstring(results["estimates"]._repr_html_()).findtext("style") or ""
    rules = re.sub(r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "{}", style)
    selectors = [rule.strip() for rule in rules.split("{}") if rule.strip()]
    assert selectors
    assert all(".assay" in rule or rule.startswith("@") for rule in selectors)


@pytest.mark.parametrize("kind", ["estimates", "evaluation"])
def test_plot_draws_the_result_or_says_that_it_has_no_figure(
    kind: str, results: dict[str, Result]
) -> None:
    if kind == "evaluation":
        with pytest.raises(InputError, match="kind 'evaluation' has no figure"):
            results[kind].plot()
        return
    figure = results[kind].plot()
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [item.system for item in results[kind].systems]  # type: ignore[attr-defined]
    assert figure._repr_svg_().startswith("<svg")  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_real_notebook_shows_results_and_figures(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [
        "import assay\nworld = assay.simulate(documents=12, systems=3, rng=1)\n"
        "ratings = world.rate()\njudgments = world.judge(200, per_set=3, rng=1)",
        "assay.estimate(world.test_set, ratings)",
        "assay.rank(judgments, rng=1)",
        "assay.rater_report(world.test_set, ratings)",
        "assay.audit_ratings(ratings, world.test_set, rng=1)",
        "assay.plan_judgments(systems=5, sigma=10.0)",
        "assay.rank(judgments, rng=1).plot()",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    *shown, drawn = [cell.outputs[-1]["data"] for cell in book.cells[1:]]
    assert all('class="assay"' in data["text/html"] for data in shown)
    assert {"image/svg+xml", "image/png"} & set(drawn)
