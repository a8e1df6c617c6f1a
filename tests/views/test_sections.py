"""Every kind of result has its section, in every form of report."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import MISSING, fields, replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.collecting.live import (
    CampaignResults,
    LeftOut,
    LivePair,
    LiveSystem,
    LookTaken,
    NextLook,
    Outcome,
)
from assay.collecting.results import (
    CampaignStatus,
    Created,
    Exported,
    Imported,
    Links,
    RaterLink,
    RaterStatus,
    SimulatedRater,
    Simulation,
)
from assay.errors import InputError, OptionError
from assay.kits.pieces import pieces_from_features
from assay.results import Result
from assay.sampling.stability import summarise_stability
from assay.sampling.summary import summarise
from assay.views.markup import csv_table, latex, latex_table, markdown, markdown_table
from assay.views.page import ROOMS, as_result, write_parts, write_report
from assay.views.report import REFERENCES, STAGES, Report
from assay.views.section import Column, Figure, Section, Table, section_of, show, shown
from assay.worlds.editing import EditingWorld

KITS = [
    (f"E{editor}", f"d{place}", "ABC"[(editor + place) % 3])
    for editor in range(6)
    for place in range(3)
]


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    """A result of every kind, from the functions that make them."""
    world = assay.simulate(documents=30, systems=3, rng=1)
    order = assay.sample(world.test_set, design="interleaved", budget="50%", rng=1)
    ratings = world.rate(order)
    judgments = world.judge(600, per_set=3, rng=1)
    records = assay.stability(
        {"one": world.test_set}, designs=["snippets", "documents"], budget="30%", metric="neural",
        draws=10, rng=1,
    )  # fmt: skip
    tried = assay.evaluate_estimators(
        world.test_set, world.rate(), methods=["baseline", "snippets+regression"], sizes=[0.3],
        draws=5, rng=1,
    )  # fmt: skip
    points = np.random.default_rng(1).random((20, 2))
    found: list[Any] = [
        assay.plan_ratings(population=500, half_width=0.1, sd=1.0),
        assay.plan_comparison(population=500, gap=0.5, difference_sd=1.0),
        assay.plan_campaign(3, 200, budget="500 ratings"),
        assay.project_status(world.test_set, world.rate(order), sample=order),
        assay.plan_judgments(systems=5, sigma=10.0),
        assay.plan_editors(3, 3.0),
        summarise_stability(records, metric="neural"),
        summarise(world.test_set, order),
        assay.find_kits(pieces_from_features(points), rng=0),
        assay.design_kits(["A", "B", "C"], 6, rng=1),
        assay.assign(order, 3, rng=1),
        assay.next_segments(world.test_set, ratings, sample=order),
        assay.next_sets(judgments, rng=1),
        assay.monitor_judgments(judgments),
        assay.fit_sigma(judgments),
        assay.match_sigma(judgments, orders=2, rng=1),
        assay.rater_report(world.test_set, ratings, sample=order),
        assay.monitor(world.test_set, ratings, sample=order, half_width=0.5),
        estimates := assay.estimate(world.test_set, ratings, sample=order),
        assay.compare_two(estimates, "system-1", "system-2"),
        assay.estimate_by(world.test_set, ratings, by="domain", sample=order),
        assay.rank(judgments, rng=1),
        assay.effort(EditingWorld({"A": 0.0, "B": 2.0, "C": 12.0}).edits(KITS, rng=1), rng=1),
        assay.audit_ratings(ratings, world.test_set, sample=order, rng=1),
        Created("news", "esa", 40, 240, 3, 8, 1, Links("o", "v", "j", (RaterLink("Ada", "t"),))),
        CampaignStatus(
            "news",
            "news",
            "open",
            "esa",
            40,
            12,
            80,
            10,
            6,
            (),
            None,
            (),
            (RaterStatus("Ada", "active", 12, 1, 600.0, 3, 4),),
            12.5,
            "EUR",
            (),
        ),
        CampaignResults(
            "news",
            "2026-05-01T14:02:00.000Z",
            "ratings",
            "ranking",
            0.95,
            40,
            12,
            30,
            60,
            90,
            6,
            (30, 60),
            (
                LookTaken(
                    1, 30, "2026-05-01T13:00:00.000Z", 90, 1, 3, 2.8, False, (), Outcome(estimates)
                ),
            ),
            NextLook(2, 60, 30, 12, 90, "9 EUR"),
            False,
            Outcome(estimates),
            (LiveSystem("system-1", 3.0, 2.0, 4.0, 1, 1, 2, 1, 30, 30, "raters", 2.5, 3.5),),
            (LivePair("system-1", "system-2", 1.0, 0.5, 1.5, True, 1, False),),
            left_out=(LeftOut("Ben", "2026-05-01T12:00:00.000Z", "owner", "haste", 9),),
            everybody=Outcome(estimates),
            next=("wait for look 2",),
        ),
        Exported(("tables/ratings.tsv",), 80, {"ratings": 80}),
        Imported("a.jsonl", "pearmut", 80, 3, 2, 7, ("Ann", "Ben"), ("Ben",), ()),
        Simulation((SimulatedRater("Ada", "quick", 4, 80, 0.5),), 4, 80, 0.6, (), 1),
        assay.summarise_evaluation(tried),
    ]
    return {item.to_dict()["kind"]: item.to_dict() for item in found}


def is_view(name: str, view: Any) -> bool:
    """Whether a function makes a section of a result and needs nothing beside it."""
    if not name.endswith("_section"):
        return False
    return sum(one.default is one.empty for one in signature(view).parameters.values()) == 1


def test_every_kind_has_a_section(results: dict[str, dict[str, Any]]) -> None:
    rooms = [import_module(f"assay.views.{room}") for room in ROOMS]
    views = {name for room in rooms for name, view in vars(room).items() if is_view(name, view)}
    known = {name.removesuffix("_section").replace("_", "-") for name in views}
    assert set(results) == known - {
        "reproduction", "check", "convert", "guess", "kits-built", "kits-collected",
        "sheets-written", "sheets-collected",
    }  # fmt: skip
    for kind, result in results.items():
        part = section_of(as_result(result))
        assert part.signature == result["signature"], kind
        assert part.said.endswith("."), kind
        assert part.blocks, kind
        assert set(part.sources) <= set(REFERENCES), kind


def test_all_kinds_on_one_page(results: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    listed = list(results.values())
    page = write_report(listed[::-1], tmp_path / "r.html").read_text("utf-8")
    # Answers, then the way to them, each in the order of the pipeline, whatever that of the files.
    parts = [section_of(as_result(result)) for result in listed]
    parts.sort(key=lambda part: page.index(f'id="{part.name}"'))
    order = [(not part.question, STAGES.index(part.stage)) for part in parts]
    assert order == sorted(order)
    assert len({stage for _, stage in order}) == len(STAGES)
    for result in listed:
        assert f"<code>{result['signature']}" in page.replace("&gt;", ">")


@pytest.mark.slow
def test_every_kind_shows_and_draws_itself_in_a_real_notebook(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    for kind, saved in results.items():
        (tmp_path / f"{kind}.json").write_text(json.dumps(saved))
    drawn = [kind for kind, saved in results.items() if has_figure(as_result(saved))]
    assert {"estimates", "ranking", "effort", "audit", "sample", "kits"} < set(drawn)
    cells = ["import assay", *(f"assay.read_result('{kind}.json')" for kind in results)]
    cells += [f"assay.read_result('{kind}.json').plot()" for kind in drawn]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    data = [cell.outputs[-1]["data"] for cell in book.cells[1:]]
    for kind, seen in zip(results, data, strict=False):
        assert 'class="assay"' in seen["text/html"], kind
    for kind, seen in zip(drawn, data[len(results) :], strict=True):
        assert {"image/svg+xml", "image/png"} & set(seen), kind


def has_figure(result: Result) -> bool:
    blocks = [block for part in section_of(result).all for block in part.blocks]
    return any(isinstance(b, Figure) or (isinstance(b, Table) and b.bars) for b in blocks)


def test_the_answers_and_the_advice_come_first(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    page = write_report(list(results.values()), tmp_path / "r.html").read_text("utf-8")
    top = page[: page.index("<details")]
    best, *_ = results["estimates"]["systems"]
    assert f"<h1>{best['system']} is " in top
    assert results["estimates"]["next"][0].split(":")[0][1:] in top
    for other in ("to edit", "600 judgments", "segments were drawn"):
        assert other not in top
        assert other in page


def test_an_audit_of_judgments_has_the_same_section(tmp_path: Path) -> None:
    world = assay.simulate(documents=30, systems=3, rng=1)
    result = assay.audit_judgments(world.judge(600, per_set=3, rng=1), rng=1)
    page = write_report(result, tmp_path / "r.html").read_text("utf-8")
    assert "the noise of a judgment is" in page.lower()
    assert ">wins<" in page


def test_an_audit_without_findings_is_refused(results: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(InputError, match="no systems or findings"):
        section_of(as_result(results["audit"] | {"findings": []}))


def test_the_methods_paragraph_names_design_size_and_method(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    text = write_report(results["estimates"], tmp_path / "r.md").read_text("utf-8")
    said = text[text.index("## Methods") :]
    n, population = (results["estimates"]["systems"][0][key] for key in ("n", "population"))
    assert f"test set of {population} segments, of which {n} were rated" in said
    assert "systematic sampling in an order interleaved" in said
    assert "regression estimator" in said
    assert "Model Assisted Survey Sampling" in said


def test_a_breakdown_inside_estimates_is_shown(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    nested = results["estimates"] | {"breakdown": results["breakdown"]}
    page = write_report(nested, tmp_path / "r.html").read_text("utf-8")
    assert 'id="by-domain"' in page


def test_parts_hold_every_table_and_figure(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    other = assay.rank(assay.simulate_judgments(5, 300, rng=2), rng=2)
    twice = [results["estimates"], results["ranking"], other]
    written = write_parts(twice, tmp_path / "parts")
    assert len(set(written)) == len(written) == 3 * (4 + 2 + 2) + 2 * (2 + 2 + 2)
    with (tmp_path / "parts" / "estimates-scores.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    given = results["estimates"]["systems"]
    assert [float(row["score"]) for row in rows] == [item["estimate"] for item in given]
    tables = (tmp_path / "parts" / "ranking-ranks-2.tex").read_text("utf-8")
    assert tables.startswith(r"\begin{table}")


def test_markdown_and_latex_let_names_stand() -> None:
    odd = "a_b|c*<d>&50% $x$ ~^\\{}#`"
    one = Table("t", "Caption", (Column(odd, "text"), Column("n", "count")), ((odd, 1),))
    assert r"a\_b\|c\*\<d\>\&50% \$x\$" in markdown_table(one)
    assert r"a\_b|c*$<$d$>$\&50\% \$x\$ \textasciitilde{}\textasciicircum{}" in latex_table(one)
    assert csv_table(one).splitlines()[1] == f"{odd},1"


def test_clusters_are_ruled_off_in_latex() -> None:
    rows = tuple((name,) for name in "ABC")
    text = latex_table(Table("t", "", (Column("S", "text"),), rows, lines=frozenset({1})))
    assert "B \\\\\n\\midrule\nC" in text
    assert text.count("midrule") == 2


def test_long_tables_are_cut_on_the_page_only(tmp_path: Path) -> None:
    world = assay.simulate(documents=10, systems=14, rng=1)
    result = assay.estimate(world.test_set, world.rate())
    page = write_report(result, tmp_path / "r.html").read_text("utf-8")
    assert "The first 60 of 91 rows;" in page
    write_parts(result, tmp_path)
    text = (tmp_path / "estimates-differences.csv").read_text("utf-8")
    assert len(text.splitlines()) == 92


@pytest.mark.parametrize(
    ("value", "show", "text"),
    [(float("nan"), "number", "–"), (True, "text", "yes"), (False, "count", "no"),
     (0.0004, "p", "< 0.001"), (0.0123, "p", "0.012"), ("1–2", "count", "1–2"),
     (1234567, "count", "1,234,567"), (-0.5, "number", "-0.500")],
)  # fmt: skip
def test_values_as_people_read_them(value: object, show: Any, text: str) -> None:
    assert shown(value, show) == text


def test_a_number_that_rounds_to_zero_has_no_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = assay.simulate(documents=5, systems=2, rng=1)
    found = assay.estimate(world.test_set, world.rate())
    first = replace(found.systems[0], estimate=-0.0, low=-0.0, high=-0.0)
    equal = found.differences[0]
    equal = replace(equal, difference=0.0, low=0.0, high=0.0).reversed
    result = replace(found, systems=(first, *found.systems[1:]), differences=(equal,))
    show(section_of(result))
    texts = [capsys.readouterr().out]
    texts += [write_report(result, tmp_path / f"r.{e}").read_text() for e in ("html", "md", "tex")]
    for text in texts:
        assert "0.000 to 0.000" in text
        # In LaTeX a minus is $-$.
        assert re.search(r"[-−]\$?0\.0+(?!\d)", text) is None
    assert [shown(-0.0004, "percent"), shown(-0.004, "money"), shown(-0.3, "count")] == [
        "0.0%", "0.00", "0"
    ]  # fmt: skip


def test_reports_of_unknown_ending_and_cut_results(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    with pytest.raises(
        OptionError, match="is not a kind of report; end its name in .html, .md, .tex"
    ):
        write_report(results["ranking"], tmp_path / "r.docx")
    for kind, result in results.items():
        whole, refused = as_result(result), set()
        for key in set(result) - {"kind", "version"}:
            cut = {name: value for name, value in result.items() if name != key}
            try:
                write_report(cut, tmp_path / "r.md")
            except InputError as error:
                assert "not complete" in str(error) or "save it again" in str(error), kind
                refused.add(key)
        # Only what an older version may lack has a default; an audit is shown by its findings.
        needed = {
            field.name
            for field in fields(whole)
            if field.default is MISSING and field.default_factory is MISSING
        }
        assert refused == needed | ({"findings"} if kind == "audit" else set()), kind
    with pytest.raises(InputError, match="no folder can be made there"):
        write_parts(results["ranking"], Path(__file__) / "x")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"design": "segments"}, "chosen by simple random sampling of segments (seed 1)"),
        ({"design": "docs-prop"}, "stratified by documents"),
        ({"design": "segments", "importance": "words"}, "probabilities that go with words"),
        ({"design": "snippets", "matched": False}, "each system on a sample of its own"),
        ({"design": "fixed-snippets"}, "each with one snippet of fixed length"),
    ],
)
def test_the_paragraph_says_which_design_it_was(options: dict[str, Any], words: str) -> None:
    world = assay.simulate(documents=30, systems=2, texts=True, rng=1)
    drawn = assay.sample(world.test_set, budget="30%", rng=1, **options)
    result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    assert words in section_of(result).methods
    plain = assay.sample(world.test_set, budget="30%", rng=1, design=options["design"])
    again = assay.estimate(world.test_set, world.rate(plain), sample=plain)
    assert (result.signature == again.signature) == (set(options) == {"design"})
    assert (summarise(world.test_set, drawn).signature == summarise(
        world.test_set, plain).signature) == (set(options) == {"design"})  # fmt: skip


def test_a_census_has_no_sampling_error_in_words() -> None:
    world = assay.simulate(documents=10, systems=2, rng=1)
    part = section_of(assay.estimate(world.test_set, world.rate(), target="answers"))
    assert "all of which were rated; scores are plain means. They have no sampling error." in (
        part.methods
    )
    assert "regression" not in part.methods
    new = assay.estimate(world.test_set, world.rate(), target="texts")
    assert "spread between texts" in section_of(as_result(new.to_dict())).methods


def test_these_answers_all_rated_are_not_said_to_go_either_way() -> None:
    world = assay.simulate(documents=10, systems=3, rng=1)
    result = assay.estimate(world.test_set, world.rate(), target="answers")
    said = section_of(result).said
    assert "nothing is left to decide" in said
    assert "may" not in said
    assert "decided" not in said


def test_certainties_of_an_older_version_are_not_repeated() -> None:
    world = assay.simulate(documents=10, systems=3, rng=1)
    pair = ("system-1", "system-2")
    now = assay.estimate(world.test_set, world.rate(), target="answers", compare=pair)
    assert now.comparison is not None
    old = replace(
        now,
        systems=tuple(
            replace(item, low_rank=k, high_rank=k, cluster=k)
            for k, item in enumerate(now.systems, start=1)
        ),
        differences=tuple(replace(item, decided=True, p=0.0) for item in now.differences),
        comparison=replace(now.comparison, decided=True, p=0.0),
    )
    assert section_of(old).verdicts == section_of(now).verdicts
    for one, other in zip(section_of(old).blocks, section_of(now).blocks, strict=True):
        if isinstance(one, Table) and isinstance(other, Table):
            assert str(one.rows) == str(other.rows)


def test_intervals_that_do_not_go_with_the_root_of_n_give_no_number(
    results: dict[str, dict[str, Any]],
) -> None:
    world = assay.simulate(documents=30, systems=2, rng=1)
    drawn = assay.sample(world.test_set, design="segments", budget="30%", rng=1)
    rated = assay.Ratings(world.rate(drawn).frame, better="lower", range=(0.0, 25.0))
    result = assay.estimate(world.test_set, rated, sample=drawn, interval="hoeffding")
    assert not any("halve" in line for line in result.next)
    assert "(Hoeffding)" in section_of(result).methods


def test_ratings_rankings_say_what_a_line_means() -> None:
    world = assay.simulate(documents=20, systems=4, rng=1)
    lines = {}
    for by in ("neighbours", "all"):
        result = assay.rank_ratings(world.rate(), cluster_rule=by, rng=1)  # type: ignore[arg-type]
        part = section_of(result)
        lines[by] = part
        assert f"of {result.pairs} {'neighbours' if by == 'neighbours' else 'pairs'} " in part.lead
        assert any(
            isinstance(b, Table) and "significantly better" in b.caption for b in part.blocks
        )
    assert "tests of neighbours" in lines["neighbours"].methods
    assert "tests of all pairs" in lines["all"].methods
    assert lines["all"].signature != lines["neighbours"].signature


def test_goals_of_plans_and_monitoring_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.planning.model.SIMULATED_CAMPAIGNS", 10)  # only words count
    for options, words in (
        ({"significant": 0.7}, "Deciding 70% of the pairs with"),
        ({"clusters": 2}, "Reaching 2 clusters with"),
        ({"range_size": 3}, "Reaching rank ranges of 3 ranks with"),
    ):
        plan = assay.plan_judgments(5, sigma=8.0, rng=1, **options)  # type: ignore[arg-type]
        assert words in section_of(as_result(plan.to_dict())).lead
    world = assay.simulate(documents=30, systems=3, rng=1)
    order = assay.sample(world.test_set, design="interleaved", budget="50%", rng=1)
    seen = assay.monitor(world.test_set, world.rate(order), sample=order, half_width=0.3,
                         goal="ranking")  # fmt: skip
    assert "a decision or an interval of ±0.3, for every pair" in section_of(
        as_result(seen.to_dict())
    ).lead.replace("±0.3 for", "±0.3, for")


def test_names_of_groups_become_file_names(tmp_path: Path) -> None:
    world = assay.simulate(documents=20, systems=2, rng=1)
    result = assay.estimate_by(world.test_set, world.rate(), by="domain").to_dict()
    written = write_parts(result | {"by": "../a/b c"}, tmp_path / "parts")
    assert all(path.parent == tmp_path / "parts" for path in written)


def test_latex_rows_cannot_be_taken_for_options_and_long_tables_break() -> None:
    rows = tuple((name,) for name in ("[ref]", "*star"))
    text = latex_table(Table("t", "", (Column("S", "text"),), rows))
    assert "{}[ref]" in text
    assert "{}*star" in text
    long = latex_table(Table("t", "c", (Column("S", "text"),), tuple((k,) for k in range(60))))
    assert long.startswith(r"\begin{longtable}")


def test_the_same_estimation_is_shown_once(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    nested = results["estimates"] | {"breakdown": results["breakdown"]}
    page = write_report([nested, results["estimates"]], tmp_path / "r.html").read_text("utf-8")
    assert page.count('<section id="estimates') == 1
    assert 'id="by-domain"' in page


def test_a_result_that_contradicts_itself(
    results: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    first, *rest = results["estimates"]["systems"]
    odd = results["estimates"] | {"systems": [first | {"system": "another"}, *rest]}
    with pytest.raises(InputError, match="contradict themselves"):
        write_report(odd, tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_names_in_any_script_are_drawn_without_a_warning(tmp_path: Path) -> None:
    world = assay.simulate(systems={"腾讯": 1.0, "百度": 3.0, "x": 9.0}, documents=10, rng=1)
    page = write_report(assay.estimate(world.test_set, world.rate()), tmp_path / "r.html")
    assert "腾讯" in page.read_text("utf-8")


def test_what_is_open_and_what_to_do_next_stand_in_every_form() -> None:
    part = Section(
        name="x", title="Scores", lead="A is best.", blocks=(), signature="x", question="Who?",
        unknown=("other raters may differ",), next=("rate 40 more segments",),
    )  # fmt: skip
    report = Report("News", (part,), "0")
    for text in (markdown(report), latex(report)):
        assert text.index("A is best.") < text.index("Other raters may differ.")
        assert text.index("Other raters may differ.") < text.index("Rate 40 more segments.")
