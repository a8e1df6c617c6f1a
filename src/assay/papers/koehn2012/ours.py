"""Compute the numbers of koehn2012: rank ranges, the rankings of WMT12, judgments needed.

:data:`READINGS` lists how we read the paper where it leaves room; the result repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from assay.papers.compare import (
    OurNumber,
    PaperRequest,
    PaperWork,
    PrintedCell,
    Reproduction,
    Values,
    compare,
    extra,
    mean_error,
    no_data_note,
    pool_values,
    printed_values,
    read_printed,
)
from assay.papers.koehn2012.campaigns import (
    BEYOND_SIZES,
    FILE,
    LEVEL,
    SIZES,
    SYSTEMS,
    VARIANTS,
    RealCampaign,
    read_campaigns,
    real_tasks,
    simulated_tasks,
    uniform_distance,
)
from assay.results import Note

DRAWS, FEWEST_DRAWS = 200, 2
PAPER_RUNS = {"Table 1": 400, "Figure 3": 10_000}
"""The number of campaigns that the paper simulated."""
WHAT = {"size": 0.0, "violations %": 100 / SYSTEMS, "clusters": 1.0,
        "cluster violations %": 200 / SYSTEMS}  # fmt: skip
"""The columns of Table 1, and by how much one more event changes a campaign's value. The error of a
mean is at least what one such event would change, even if no campaign had any."""
RANKED = {"en-cs": "Table 2", "fr-en": "Table 3"}
METHODS = ("expected-win", "bojar", "lopez", "lopez, pairs counted")

READINGS = (
    Note("reading-sigma", "reading: the number printed as the variance sigma^2 is the standard"
         " deviation (table 'readings' shows it as a variance)"),
    Note("reading-sign-test", "reading: the sign test is one-sided at .05 (table 'readings' shows"
         " the two-sided test); the size of a range is last - first + 1"),
    Note("reading-equations", "reading: loss(j, k) is the count win(k, j); equation 3 sums the"
         " judgments that contradict an order; equations 4 and 5 divide by n - 1 and"
         " n (n - 1) / 2"),
    Note("reading-bootstrap", "reading: the bootstrap of Table 1 resamples whole sets and takes the"
         " shortest range with 95 %; 'Table 1, literal' resamples single judgments and cuts both"
         " tails, as written"),
    Note("reading-blanks", "reading: blank ranks count as best (table 'readings': dropped)"),
    Note("reading-figure-3", "reading: Figure 3 is simulated with sigma 20 instead of the printed"
         " 10, for an unknown reason; 'Figure 3, sigma 10' has the printed value"),
    Note("reading-grid", "reading: Table 4 comes from a search on a grid, so our number must lie"
         " between the neighbours of the printed one among all numbers of the table"),
)  # fmt: skip
REASONS = {
    "en-cs 13 first": "the last system, alone in its cluster, can only have rank 13",
    "en-cs 13 last": "the last system, alone in its cluster, can only have rank 13",
    "lopez 10000 error": "the exact order of fewest violations, weighted as printed; the paper does"
    " not say how it searched",
    "lopez 50000 error": "the paper repeats its number at 10,000 judgments",
    "share at 13000": "the paper's own Table 4 has 50 % at 12,000 judgments",
    "lowest sigma": "cs-en has six systems, too few for a curve to tell noise from gaps",
    "pairwise": "the paper's sign test may be another than ours",
    "bootstrap": "the paper's bootstrap may be another than ours",
}
"""Why a number differs from the paper's, by its name or the first word of its name."""
END_MOVES = "bootstrap: other resamples move the end of a range by a rank"
Pool = Mapping[tuple[object, ...], Values]
"""The values of all simulated campaigns by the key of their task."""
Numbers = dict[str, OurNumber]


class Koehn2012(PaperWork):
    """The simulated and real campaigns behind the tables."""

    def finish(self, steps: Iterable[Any]) -> Reproduction:
        """Make the tables from the steps that :meth:`run` yielded."""
        done = list(steps)
        if not done:
            note = no_data_note("koehn2012")
            return compare("koehn2012", {}, notes=(note,), request=self.request)
        real = {key[1]: campaign for key, campaign in done if key[0] == "pair"}
        pool = pool_values(step for step in done if step[0][0] != "pair")
        ours = range_numbers(pool) | need_numbers(pool) | error_numbers(pool)
        ours |= ranking_numbers(real) | sigma_numbers(real)
        cells = _extras(pool, real, figures=self.request.figures)
        return compare("koehn2012", ours, cells, notes=READINGS, request=self.request)


def list_work(request: PaperRequest) -> Koehn2012:
    """Read the folder and list the tasks; without the file of WMT12 there are none.

    ``draws`` campaigns are resampled for Table 1 (200 by default; the paper has 400), and 25 times
    as many are simulated for its pairwise half and Figure 3.
    """
    data = read_campaigns(request.folder)
    tasks = (*real_tasks(data), *simulated_tasks(needs(), request.draws)) if data else ()
    return Koehn2012(data, tasks, request)


def needs() -> list[tuple[int, float, float, int]]:
    """The cells of Table 4: systems, sigma, share of significant pairs, printed judgments.

    >>> needs()[-1]
    (15, 12.0, 0.9, 500000)
    """
    return [
        (int(systems), float(sigma), float(share), int(item.value))
        for item in read_printed("koehn2012") if item.table == "Table 4"
        for systems, _, _, sigma, share in [item.number.split()]
    ]  # fmt: skip


def _simulated(number: str, values: np.ndarray, runs: int, event: float = 0.0) -> OurNumber:
    """A mean over campaigns, with its error and that of a mean over the paper's ``runs``."""
    mean, error = mean_error(values)
    paper_error = max(error * np.sqrt(len(values) / runs), event / runs)
    reason = REASONS.get(number) or REASONS.get(number.split()[0], "")
    return OurNumber(mean, max(error, event / len(values)), paper_error, reason=reason)


def range_numbers(pool: Pool) -> Numbers:
    """Table 1: ranges and clusters by both methods."""
    values = {"pairwise": pool["errors", 10.0]["pairwise"],
              "bootstrap": pool["ranges",]["bootstrap"]}  # fmt: skip
    return {
        number: _simulated(number, campaigns[:, k, c], PAPER_RUNS["Table 1"], event)
        for method, campaigns in values.items()
        for k, size in enumerate(SIZES)
        for c, (what, event) in enumerate(WHAT.items())
        for number in [f"{method} {size} {what}"]
    }


def ranking_numbers(real: Mapping[str, RealCampaign]) -> Numbers:
    """Tables 2 and 3: scores, ranges and clusters of two language pairs."""
    ours: Numbers = {}
    for lp, table in RANKED.items():
        printed = [item for item in read_printed("koehn2012") if item.table == table]
        lines = sum(item.column == "score" for item in printed)
        if lp not in real:
            continue
        ranking = real[lp].named
        if len(ranking.systems) != lines:
            lack = OurNumber(needs=f"the paper's {lines} systems of {lp} in {FILE}")
            ours |= {item.number: lack for item in printed}
            continue
        for place, item in enumerate(ranking.systems, 1):
            ours[f"{lp} {place} score"] = OurNumber(item.score, note=item.system)
            for name, rank in (("first", item.first), ("last", item.last)):
                number = f"{lp} {place} {name}"
                reason = REASONS.get(number, END_MOVES)
                ours[number] = OurNumber(rank, reason=reason, note=item.system)
        ours[f"{lp} clusters"] = OurNumber(ranking.clusters)
        reason = "all pairs of all screens, ties and blanks among them; the paper says 'about'"
        ours[f"{lp} judgments"] = OurNumber(ranking.judgments, reason=reason)
    return ours


def need_numbers(pool: Pool) -> Numbers:
    """Table 4: judgments for a share of significant pairs; section 6: the share at 13,000."""
    ours = {
        f"{n} systems sigma {sigma:g} {share:g}": OurNumber(
            float(found["needed"][0]), note=f"at {judgments:,} judgments {found['share'][0]:.1%}"
        )
        for n, sigma, share, judgments in needs()
        for found in [pool["share", n, sigma, judgments]]
    }
    share = 100 * float(pool["share", 15, 10.0, 13_000]["share"][0])
    return ours | {"share at 13000": OurNumber(share, reason=REASONS["share at 13000"])}


def error_numbers(pool: Pool) -> Numbers:
    """Figure 3: the percentage of pairs in the wrong order by method."""
    values = pool["errors", 20.0]
    return {
        number: _simulated(number, values[method][:, k], PAPER_RUNS["Figure 3"])
        for method in METHODS[:3]
        for k, size in enumerate(SIZES)
        for number in [f"{method} {size} error"]
    }


def sigma_numbers(real: Mapping[str, RealCampaign]) -> Numbers:
    """Figure 2: sigma by matching curves (the paper gives whole numbers)."""
    reason = "the whole number whose curve is nearest, by eye"
    ours = {
        f"{lp} sigma": OurNumber(campaign.sigma, note=_apart(campaign), reason=reason)
        for lp, campaign in real.items()
    }
    if len(real) == 8:
        for name, choose in (("lowest", min), ("highest", max)):
            lp = choose(real, key=lambda lp: real[lp].sigma)
            reason = REASONS.get(f"{name} sigma", "")
            ours[f"{name} sigma"] = OurNumber(real[lp].sigma, note=lp, reason=reason)
    return ours


def _apart(campaign: RealCampaign) -> str:
    return f"curves {100 * campaign.distance:.1f} points apart"


def _extras(
    pool: Pool, real: Mapping[str, RealCampaign], *, figures: bool
) -> Iterator[PrintedCell]:
    yield from _literal_cells(pool, real)
    for n, sigma, share, judgments in needs():  # Table 4 from the other side
        ours = float(pool["share", n, sigma, judgments]["share"][0])
        yield extra("Table 4, shares", f"{n} systems, sigma {sigma:g}", f"{share:.0%}", ours,
                    paper=share, note=f"share at {judgments:,}", digits=3)  # fmt: skip
    yield from _uniform_cells(pool, real)
    for lp, campaign in sorted(real.items()):
        sigma, low, high = campaign.likelihood
        yield extra("Figure 2", lp, "sigma by likelihood", sigma, digits=2,
                    note=f"95 % interval {low:.1f} to {high:.1f}")  # fmt: skip
        if lp not in RANKED:
            yield extra("Figure 2", lp, "sigma by curve", campaign.sigma, digits=2,
                        note=_apart(campaign))  # fmt: skip
    yield from _error_cells(pool)
    yield from _reading_cells(pool, real)
    for size in BEYOND_SIZES:
        for variant in VARIANTS:
            for name, values in pool["beyond", variant, size].items():
                yield extra("beyond", f"{variant.name}, {size:,}", name, *mean_error(values),
                            digits=2)  # fmt: skip
    if figures:
        yield from _figure_cells(real)


def _literal_cells(pool: Pool, real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """The bootstrap to the letter of the paper: single judgments, cut at both tails."""
    printed = printed_values("koehn2012")
    values = pool["ranges",]["literal"]
    for k, size in enumerate(SIZES):
        for c, what in enumerate(WHAT):
            paper = printed[f"bootstrap {size} {what}"]
            yield extra("Table 1, literal", f"bootstrap {size:,}", what,
                        *mean_error(values[:, k, c]), paper=paper, digits=2)  # fmt: skip
    for lp, table in RANKED.items():
        if lp not in real or f"{lp} {len(real[lp].named.systems)} first" not in printed:
            continue
        for place, item in enumerate(real[lp].literal.systems, 1):
            for name, ours in (("first", item.first), ("last", item.last)):
                paper = printed[f"{lp} {place} {name}"]
                yield extra(f"{table}, literal", f"{place} {item.system}", name, ours,
                            paper=paper, digits=0)  # fmt: skip
        yield extra(f"{table}, literal", lp, "clusters", real[lp].literal.clusters,
                    paper=printed[f"{lp} clusters"], digits=0)  # fmt: skip


def _uniform_cells(pool: Pool, real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """Figure 1: Kolmogorov's test of whether the win ratios inside the extremes are uniform."""
    from scipy.stats import kstwo

    for lp, campaign in real.items():
        scores = np.array([item.score for item in campaign.named.systems])
        for name, kept in (("all systems", scores), ("without the last", scores[:-1])):
            if len(kept) >= 4:
                p = float(kstwo.sf(uniform_distance(kept), len(kept) - 2))
                yield extra("Figure 1", lp, f"p of uniform, {name}", p, digits=3)
    far = 100 * (pool["errors", 10.0]["distance"] > kstwo.isf(LEVEL, 13)).astype(float)
    yield extra("Figure 1", "simulated, 50,000 judgments", "campaigns with p < .05, %",
                 *mean_error(far), digits=2)  # fmt: skip


def _error_cells(pool: Pool) -> Iterator[PrintedCell]:
    """Figure 3 at the sizes and with the sigma for which the text has no numbers."""
    printed = printed_values("koehn2012")
    for sigma in (20.0, 10.0):
        table = "Figure 3" if sigma == 20 else "Figure 3, sigma 10"
        for method in METHODS:
            for k, size in enumerate(SIZES):
                paper = printed.get(f"{method.partition(',')[0]} {size} error")
                if sigma == 10 or paper is None or method == METHODS[3]:
                    ours = mean_error(pool["errors", sigma][method][:, k])
                    yield extra(table, method, f"{size:,}", *ours, paper=paper, digits=2)


def _reading_cells(pool: Pool, real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """The evidence for our readings: the paper's numbers next to those of the other reading."""
    printed = printed_values("koehn2012")
    for k, size in enumerate(SIZES):
        ours = mean_error(pool["errors", 10.0]["two-sided"][:, k, 0])
        yield extra("readings", "sign test two-sided, Table 1", f"size at {size:,}", *ours,
                     paper=printed[f"pairwise {size} size"], digits=2)  # fmt: skip
    for n, sigma, share, judgments in needs():
        if (n, sigma) == (15, 10.0):
            reached = float(pool["share", n, float(np.sqrt(sigma)), judgments]["share"][0])
            yield extra("readings", "sigma^2 = 10 as a variance, Table 4",
                         f"share at {judgments:,}", reached, paper=share, digits=3)  # fmt: skip
    for name in ("named", "literal"):
        pairs = [
            (rank, printed.get(f"{lp} {place} {end}"))
            for lp in RANKED if lp in real
            for place, item in enumerate(getattr(real[lp], name).systems, 1)
            for end, rank in (("first", item.first), ("last", item.last))
        ]  # fmt: skip
        if pairs:
            same = sum(ours == paper for ours, paper in pairs)
            yield extra("readings", f"Tables 2 and 3, {name}", f"equal ends of {len(pairs)}", same,
                         digits=0)  # fmt: skip
    for lp in RANKED:
        if lp in real:
            yield extra("readings", f"{lp}, {real[lp].blanks} blanks dropped", "largest shift",
                         real[lp].shift, digits=4)  # fmt: skip


def _figure_cells(real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """The points of Figure 1 and the curves of Figure 2: significant pairs (%) by judgments."""
    for lp, campaign in real.items():
        for item in campaign.named.systems:
            yield extra("win ratios", lp, item.system, item.score, digits=3)
    for lp, campaign in real.items():
        for size, share, model in campaign.curve:
            for name, value in (("actual", share), ("model", model)):
                yield extra("curves", lp, f"{name} at {size:.0f}", 100 * value, digits=1)
