"""What a look saw, exported and given to the commands, repeats its digits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.campaign.live.lively import Lively, lively
from tests.conftest import Ran

import assay
from assay.campaign.keys import Keys, write_keys
from assay.campaign.live.results import bring_up_to_date, follow_campaign
from assay.project.settings import Pay, Raters, Screen, Settings, Stop

FOUR = {"A": 1.0, "B": 1.5, "C": 5.0, "D": 12.0}
Run = Callable[..., Ran]


def said(run_assay: Run, *words: object) -> dict[str, Any]:
    ran = run_assay(*words)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def worked(world: Lively, tasks: int) -> None:
    """Everything done, with results brought up to date on the way, and a change after a look."""
    with world.campaign as campaign:
        live = follow_campaign(campaign)
        while world.work(tasks=tasks):
            bring_up_to_date(campaign, live)
        campaign.exclude("rater-1", "after all looks", "owner")
        bring_up_to_date(campaign, live)


def folder_of(place: Path | str, tmp_path: Path) -> Path:
    """A folder whose keys name the store."""
    if isinstance(place, Path):
        write_keys(place, Keys("o", "v", "j"))
        return place
    write_keys(tmp_path, Keys("o", "v", "j", store=place))
    return tmp_path


@pytest.mark.parametrize(
    ("place", "protocol"), [("sqlite", "da"), ("postgresql", "sqm")], indirect=["place"]
)
def test_ratings(place: Path | str, tmp_path: Path, run_assay: Run, protocol: Any) -> None:
    settings = Settings(protocol=protocol, raters=Raters(number=3, overlap="30%"))
    thinks = None if protocol == "da" else (lambda system, segment, rater: float(
        (4 * (3 - system) + segment + rater) % 7
    ))  # fmt: skip
    worked(lively(place, settings, systems=FOUR, thinks=thinks), 15)
    folder = folder_of(place, tmp_path / "keys" if isinstance(place, Path) else tmp_path)
    looks = said(run_assay, "campaign", "status", folder, "--json")["looks"]
    assert [look["number"] for look in looks] == [1, 2, 3, 4, 5]
    for look in (looks[1], looks[4]):
        target = tmp_path / f"look-{look['number']}"
        said(run_assay, "campaign", "export", folder, "--look", look["number"], "-o", target,
             "--json")  # fmt: skip
        again = said(
            run_assay, "estimate", target / "scores.tsv", target / "ratings.tsv", "--sample",
            target / "sample.tsv", "--json",
        )  # fmt: skip
        assert again["systems"] == look["systems"]
        assert again["signature"] == look["signature"]


def test_the_exported_folder_repeats_the_numbers_of_the_page(
    tmp_path: Path, run_assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the metrics, the scale and the level of the campaign, nobody repeats them by hand."""
    names = assay.simulate(documents=2, rng=1).test_set.metrics
    world = lively(tmp_path / "c", systems=FOUR, settings=Settings(
        protocol="esa", metrics=names[:1], lower_metrics=(), raters=Raters(number=3),
        stop=Stop(level=0.9),
    ))  # fmt: skip
    with world.campaign as campaign:
        world.work()
        found = bring_up_to_date(campaign)
    write_keys(tmp_path / "c", Keys("o", "v", "j"))
    exported = said(run_assay, "campaign", "export", tmp_path / "c", "-o", tmp_path / "t", "--json")
    assert exported["project"] == str(tmp_path / "t" / "assay.toml")
    monkeypatch.chdir(tmp_path / "t")
    again = said(run_assay, "estimate", "--json")
    assert found.outcome.estimates is not None
    assert again["systems"] == found.outcome.estimates.to_dict()["systems"]
    assert (again["level"], again["metrics"]) == (0.9, list(names[:1]))
    # A folder with a project that somebody wrote keeps it.
    (tmp_path / "t" / "assay.toml").write_text('name = "mine"\n')
    exported = said(run_assay, "campaign", "export", tmp_path / "c", "-o", tmp_path / "t", "--json")
    assert exported["project"] is None
    assert (tmp_path / "t" / "assay.toml").read_text() == 'name = "mine"\n'


def test_judgments_chosen_by_the_results(place: Path | str, tmp_path: Path, run_assay: Run) -> None:
    world = lively(place, documents=20, systems=FOUR, settings=Settings(
        protocol="pairwise", raters=Raters(number=3, overlap="10%"), screen=Screen(sets="order"),
    ))  # fmt: skip
    seed = world.campaign.rules.seed
    worked(world, 40)
    folder = folder_of(place, tmp_path)
    look = said(run_assay, "campaign", "status", folder, "--json")["looks"][2]
    target = tmp_path / "look"
    said(run_assay, "campaign", "export", folder, "--look", 3, "-o", target, "--json")
    again = said(run_assay, "rank", target / "judgments.tsv", "--seed", seed, "--json")
    assert again["systems"] == look["systems"]
    assert again["signature"] == look["signature"]


def test_edits(place: Path | str, tmp_path: Path, run_assay: Run) -> None:
    three = {"A": 0.5, "B": 3.0, "C": 12.0}
    world = assay.simulate(documents=[4] * 3, systems=three, rng=1)
    kits = assay.design_kits("ABC", 6, documents=world.test_set.documents["doc"].to_list(), rng=1)
    more = lively(
        place, documents=[4] * 3, systems=three, raters=6, kits=kits,
        settings=Settings(protocol="post-edit", pay=Pay(per_hour=40, currency="EUR")),
        thinks=lambda system, segment, rater: 10.0 + 12 * system + segment % 3 + rater / 4,
    )  # fmt: skip
    seed = more.campaign.rules.seed
    with more.campaign as campaign:
        more.work()
        bring_up_to_date(campaign)
    folder = folder_of(place, tmp_path)
    (look,) = said(run_assay, "campaign", "status", folder, "--json")["looks"]
    target = tmp_path / "look"
    said(run_assay, "campaign", "export", folder, "--look", 1, "-o", target, "--json")
    again = said(
        run_assay, "effort", target / "edits.tsv", "--rate", "40 EUR", "--seed", seed, "--json"
    )
    assert again["systems"] == look["systems"]
