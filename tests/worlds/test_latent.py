"""The hidden state of a world, and the metrics that see part of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks.moments import moments
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import OptionError
from assay.worlds.latent import (
    SCALES,
    WorldLayout,
    counts,
    draw,
    expected_score,
    fields,
    greatest_correlation,
    latent,
    marks,
    metric,
    reachable,
    scores,
    shifts,
    slopes,
    twin,
)
from assay.worlds.profiles import PROFILES, Profile
from assay.worlds.simulate import simulate

PAIRS = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


def layout(systems: int = 4, documents: int = 300, raters: int = 3, humans: int = 0) -> WorldLayout:
    rng = np.random.default_rng(0)
    document = np.repeat(np.arange(documents), 5)
    return WorldLayout(
        systems=systems,
        raters=raters,
        document=document,
        domain=np.arange(documents) % 4,
        length=rng.standard_normal(len(document)),
        human=np.arange(systems) < humans,
    )


def one(value: int) -> np.ndarray:
    return np.array([value], dtype=np.int8)


@pytest.mark.parametrize(
    ("alone", "major", "minor", "punctuation", "kinds", "score"),
    [
        (False, 0, 0, 0, [0, 0, 0, 0, 0], 0.0),
        (False, 1, 2, 1, [3, 2, 2, 1, 0], 7.1),
        (False, 0, 0, 3, [1, 1, 1, 0, 0], 0.3),
        (False, 2, 5, 2, [3, 3, 2, 2, 2], 13.0),  # only the five worst
        (False, 5, 5, 5, [3, 3, 3, 3, 3], 25.0),
        (True, 2, 1, 1, [4, 0, 0, 0, 0], 25.0),
    ],
)
def test_marks_by_hand(
    alone: bool, major: int, minor: int, punctuation: int, kinds: list[int], score: float
) -> None:
    found = marks(np.array([alone]), one(major), one(minor), one(punctuation))
    assert found[0].tolist() == kinds
    assert scores(found)[0] == score


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_another_error_never_improves_a_score(major: int, minor: int, punctuation: int) -> None:
    def score(*counts: int) -> float:
        return float(scores(marks(np.array([False]), *(one(min(5, c)) for c in counts)))[0])

    base = score(major, minor, punctuation)
    assert 0 <= base <= 25
    assert base <= score(major + 1, minor, punctuation)
    assert base <= score(major, minor + 1, punctuation)
    assert base <= score(major, minor, punctuation + 1)


@PAIRS
def test_profiles_are_proper(profile: Profile) -> None:
    for kind in (profile.major, profile.minor, profile.punctuation):
        parts = dataclasses.asdict(kind)
        del parts["shares"], parts["quality"]
        assert all(0 <= part <= 1 for part in parts.values())
        assert sum(parts.values()) + kind.rest == pytest.approx(1)
        assert kind.rest > 0
        assert len(kind.shares) == 5
        assert list(kind.shares) == sorted(kind.shares, reverse=True)
    # what is no translation has more than enough major errors: both score 25
    assert profile.non_translation < profile.major.shares[-1]
    assert list(profile.machines) == sorted(profile.machines)
    assert 0 < profile.metric_document + profile.metric_segment < 1


@PAIRS
def test_latents_have_variance_one_and_counts_their_shares(profile: Profile) -> None:
    rng = np.random.default_rng(11)
    place = layout(systems=3, documents=500, raters=3)
    kind = profile.minor
    drawn = [latent(kind, profile, place, fields(place, rng)).seen for _ in range(20)]
    # rater severity and domains vary between worlds; 20 worlds leave a standard error of .02
    assert np.mean([z.var() + z.mean() ** 2 for z in drawn]) == pytest.approx(1, abs=0.08)
    found = np.array([counts(kind, z, np.zeros(3)) for z in drawn])
    for k, share in enumerate(kind.shares, start=1):
        assert (found >= k).mean() == pytest.approx(share, abs=0.04)


def test_variance_components_show_as_correlations() -> None:
    profile = PROFILES["en-de"]
    kind = profile.major
    rng = np.random.default_rng(12)
    place = layout(systems=2, documents=4000, raters=2)
    plain = dataclasses.replace(profile, domain_share=0.0)
    z = latent(kind, plain, place, fields(place, rng)).seen
    shared = kind.document + kind.segment
    own = kind.system_document + kind.system_segment
    rater = kind.rater_document + kind.rater_segment

    # severity and the system's habit shift means, which a covariance over segments does not see
    def covariance(a: tuple[int, int], b: tuple[int, int]) -> float:
        return float(np.cov(z[a[0], :, a[1]], z[b[0], :, b[1]])[0, 1])

    # 4000 documents: standard error of a covariance about .012
    assert covariance((0, 0), (1, 0)) == pytest.approx(shared + rater, abs=0.04)
    assert covariance((0, 0), (0, 1)) == pytest.approx(shared + own, abs=0.04)
    assert covariance((0, 0), (1, 1)) == pytest.approx(shared, abs=0.04)


def test_twin_fields_correlate_as_the_profile_says() -> None:
    profile = PROFILES["en-de"]
    rng = np.random.default_rng(13)
    place = layout(systems=4, documents=1000)
    first = fields(place, rng)
    second = twin(first, fields(place, rng), profile)
    r = np.corrcoef(first.segment, second.segment)[0, 1]
    assert r == pytest.approx(profile.kinship, abs=0.04)
    r = np.corrcoef(first.rest.ravel(), second.rest.ravel())[0, 1]
    assert r == pytest.approx(profile.rater_kinship, abs=0.02)


def test_human_translations_share_less_of_the_difficulty() -> None:
    profile = PROFILES["en-de"]
    rng = np.random.default_rng(14)
    place = layout(systems=5, documents=800, humans=2)
    z = latent(profile.major, profile, place, fields(place, rng)).shared
    r = np.corrcoef(z)
    assert r[2:, 2:][np.triu_indices(3, 1)].min() > r[:2, 2:].max() + 0.1
    assert z[:2].var() == pytest.approx(z[2:].var(), rel=0.15)


@PAIRS
def test_expected_score_is_the_mean_over_worlds(profile: Profile) -> None:
    rng = np.random.default_rng(15)
    place = layout(systems=2, documents=100, raters=6)
    shift = np.array([-0.3, 0.2])
    worlds = [draw(profile, place, shift, rng).scores.mean(axis=(1, 2)) for _ in range(60)]
    error = np.std(worlds, axis=0) / np.sqrt(60)
    found = expected_score(profile, shift)
    # the formula takes kinds of error as independent, which costs up to 3 %
    assert np.all(np.abs(np.mean(worlds, axis=0) - found) < 3 * error + 0.03 * found)


@PAIRS
def test_shifts_invert_expected_scores(profile: Profile) -> None:
    wanted = np.array([0.5, 2.0, 5.0, 9.0])
    np.testing.assert_allclose(expected_score(profile, shifts(profile, wanted)), wanted, rtol=0.002)
    low, high = reachable(profile)
    assert low < 0.5
    assert high > 15


@PAIRS
def test_slopes_are_the_covariances_of_score_and_latent(profile: Profile) -> None:
    """Stein's lemma: cov(score, z) = mean slope; a world of systems of shift 0, written out."""
    rng = np.random.default_rng(17)
    z = rng.standard_normal((3, 1, 400_000))
    kinds = (profile.major, profile.minor, profile.punctuation)
    found = [counts(kind, one, np.zeros(1)) for kind, one in zip(kinds, z, strict=True)]
    y = scores(marks(z[0] > 9, *found))
    expected = [(y * one).mean() for one in z]
    # no non-translations here: 5 majors score the same 25
    np.testing.assert_allclose(slopes(profile), expected, rtol=0.05, atol=0.01)


def test_state_parts_agree() -> None:
    profile = PROFILES["zh-en"]
    state = draw(profile, layout(documents=60), np.zeros(4), np.random.default_rng(16))
    np.testing.assert_array_equal(scores(state.kinds), state.scores)
    both = zip(state.badness, state.scores, strict=True)
    inside = [np.corrcoef(b.ravel(), y.ravel())[0, 1] for b, y in both]
    assert min(inside) > 0.7
    assert state.badness.std(axis=1).mean() == pytest.approx(1)
    assert np.corrcoef(state.quality.ravel(), state.scores.mean(axis=2).ravel())[0, 1] < -0.5


def inside(x: np.ndarray, y: np.ndarray) -> float:
    """Correlation inside systems, systems pooled, averaged over raters: written out."""
    found = []
    for rater in range(y.shape[2]):
        a = np.concatenate([row - row.mean() for row in x])
        b = np.concatenate([row - row.mean() for row in y[:, :, rater]])
        found.append(a @ b / np.sqrt((a @ a) * (b @ b)))
    return float(np.mean(found))


def small(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(3, 40))
    y = np.maximum(0, -quality[:, :, None] + rng.normal(size=(3, 40, 2)))
    return quality, rng.normal(size=(3, 40)), y


@given(st.integers(0, 1000), st.floats(0, 0.95))
def test_the_correlation_is_met_exactly(seed: int, part: float) -> None:
    quality, error, y = small(seed)
    wanted = part * greatest_correlation(y)
    found = metric(quality, error, y, wanted)
    assert inside(found, y) == pytest.approx(-wanted, abs=1e-9)


def test_the_greatest_correlation_is_that_of_the_mean_rating() -> None:
    _, _, y = small(3)
    centred = y - y.mean(axis=1, keepdims=True)
    mean = (centred / np.sqrt((centred**2).sum(axis=(0, 1)))).mean(axis=2)
    assert inside(mean, y) == pytest.approx(greatest_correlation(y))


def test_one_rater_can_be_met_up_to_one() -> None:
    _, _, y = small(4)
    assert greatest_correlation(y[:, :, :1]) == pytest.approx(1)


def test_worlds_have_the_metrics_asked_for() -> None:
    wanted = {"weak": 0.1, "fair": 0.35, "good": 0.6, "none": 0.0}
    world = simulate(systems=6, documents=60, metrics=wanted, rng=5)
    values = {name: world.test_set.matrix(name) for name in wanted}
    assert world.test_set.metrics == tuple(wanted)
    found = moments(world.scores, world.segments["doc"].to_numpy(), metrics=values)
    for name, r in wanted.items():
        assert inside(values[name], world.scores) == pytest.approx(-r, abs=1e-9)
        # the mean of each system's own correlation differs a little from the pooled one
        assert found.metrics[name]["within_r"] == pytest.approx(-r, abs=0.02)
        assert found.metrics[name]["document_icc"] > 0.03
    for x, (mean, sd) in zip(values.values(), SCALES, strict=True):
        assert x.mean() == pytest.approx(mean, abs=0.01 * sd)
        assert x.std(axis=1).mean() == pytest.approx(sd)


def test_a_metric_tells_good_from_bad_systems() -> None:
    world = simulate(systems={"good": 0.8, "bad": 5.0}, documents=60, metrics={"m": 0.5}, rng=6)
    good, bad = world.test_set.matrix("m").mean(axis=1)
    assert good > bad


def test_metrics_share_part_of_their_error() -> None:
    world = simulate(documents=80, metrics={"a": 0.3, "b": 0.3}, rng=7)
    a, b = (world.test_set.matrix(name).ravel() for name in "ab")
    assert 0.3 < np.corrcoef(a, b)[0, 1] < 0.8


def test_no_metrics() -> None:
    assert simulate(documents=5, metrics={}, rng=8).test_set.metrics == ()


def test_messages() -> None:
    with pytest.raises(OptionError, match=r"metrics \(0.95\) cannot be the correlation of 'm'"):
        simulate(documents=10, metrics={"m": 0.95}, rng=9)
    with pytest.raises(OptionError, match=r"metrics \(-0.2\) .*; give 0 or more and less than 0"):
        simulate(documents=10, metrics={"m": -0.2}, rng=9)
    with pytest.raises(OptionError, match=r"metrics \(words\) is the name of another column"):
        simulate(documents=10, metrics={"words": 0.2}, rng=9)
