"""Ours for koehn2012: ranges and clusters, rankings of WMT12, how many judgments are needed.

Its readings are listed in :data:`READINGS`, and the result repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from assay.papers.compare import (
    OurNumber,
    PaperRequest,
    PaperWork,
    PrintedCell,
    Reproduction,
    beside,
    compare,
    mean_error,
    no_data_note,
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
    CampaignRecord,
    RealCampaign,
    do_work,
    read_campaigns,
    real_work,
    simulated_work,
    uniform_distance,
)
from assay.results import Note

DRAWS, LEAST = 200, 2
PAPER_RUNS = {"Table 1": 400, "Figure 3": 10_000}
"""Campaigns behind the paper's numbers, which vary by that."""
WHAT = {"size": 0.0, "violations %": 100 / SYSTEMS, "clusters": 1.0,
        "cluster violations %": 200 / SYSTEMS}  # fmt: skip
"""The columns of Table 1, and by how much one more event changes a campaign's: an error of a mean
is no smaller than what that would change, also where no campaign has seen one."""
RANKED = {"en-cs": "Table 2", "fr-en": "Table 3"}
METHODS = ("expected-win", "bojar", "lopez", "lopez, pairs counted")

READINGS = (
    Note("reading-sigma", "reading: what is printed as the variance sigma^2 is the standard"
         " deviation (table 'readings' has the variance beside it)"),
    Note("reading-sign-test", "reading: the sign test is one-sided at .05 (table 'readings' has the"
         " two-sided beside it); the size of a range is last - first + 1"),
    Note("reading-equations", "reading: loss(j, k) is the count win(k, j); equation 3 adds up what"
         " contradicts an order; equations 4 and 5 divide by n - 1 and n (n - 1) / 2"),
    Note("reading-bootstrap", "reading: the bootstrap of Table 1 resamples whole sets and takes the"
         " shortest range with 95 %; single judgments cut at both ends, as written, are in"
         " 'Table 1, literal'"),
    Note("reading-blanks", "reading: blank ranks count as best (table 'readings': dropped)"),
    Note("reading-figure-3", "reading: Figure 3 is simulated with sigma 20 in place of the 10 that"
         " is printed; why it should be is not known, and 'Figure 3, sigma 10' is beside it"),
    Note("reading-grid", "reading: Table 4 comes from a search on a grid, so ours must lie between"
         " the neighbours of the printed number among all numbers of the table"),
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
"""Why a number differs, where it does: by number, or by its first word."""
END_MOVES = "bootstrap: other resamples move the end of a range by a rank"
Pool = Mapping[tuple[object, ...], Mapping[str, np.ndarray]]
"""Values of all simulated campaigns, by the work that made them."""
Numbers = dict[str, OurNumber]


class Koehn2012(PaperWork):
    """The simulated and real campaigns behind the tables."""

    do = staticmethod(do_work)

    def finish(self, steps: Iterable[CampaignRecord]) -> Reproduction:
        """The tables from what :meth:`run` yielded."""
        parts: dict[tuple[object, ...], list[dict[str, np.ndarray]]] = {}
        real: dict[str, RealCampaign] = {}
        for record in steps:
            if record.real is not None:
                real[record.work.pair] = record.real
            else:
                parts.setdefault(record.work.key, []).append(record.values)
        pool = {
            key: {name: np.concatenate([part[name] for part in values]) for name in values[0]}
            for key, values in parts.items()
        }
        if not pool:
            note = no_data_note("koehn2012")
            return compare("koehn2012", {}, notes=(note,), request=self.request)
        ours = range_numbers(pool) | need_numbers(pool) | error_numbers(pool)
        ours |= ranking_numbers(real) | sigma_numbers(real)
        cells = _beside(pool, real, figures=self.request.figures)
        return compare("koehn2012", ours, cells, notes=READINGS, request=self.request)


def list_work(request: PaperRequest) -> Koehn2012:
    """Read the folder and list the work; ``figures`` adds the points of Figures 1 and 2.

    ``draws`` campaigns are resampled for Table 1 (the paper has 400; 200 unless given), and 25
    times as many are simulated for its pairwise half and Figure 3. Without the file of WMT12
    nothing is simulated.
    """
    data = read_campaigns(request.folder)
    work = (*real_work(data), *simulated_work(needs(), request.draws)) if data else ()
    return Koehn2012(data, work, request)


def needs() -> list[tuple[int, float, float, int]]:
    """Systems, sigma, share and judgments of every cell of Table 4.

    >>> needs()[-1]
    (15, 12.0, 0.9, 500000)
    """
    return [
        (int(systems), float(sigma), float(share), int(item.value))
        for item in read_printed("koehn2012") if item.table == "Table 4"
        for systems, _, _, sigma, share in [item.number.split()]
    ]  # fmt: skip


def _simulated(number: str, values: np.ndarray, runs: int, event: float = 0.0) -> OurNumber:
    """A mean over campaigns beside one over as many as the paper has."""
    mean, error = mean_error(values)
    paper_error = max(error * np.sqrt(len(values) / runs), event / runs)
    reason = REASONS.get(number) or REASONS.get(number.split()[0], "")
    return OurNumber(mean, max(error, event / len(values)), paper_error, reason=reason)


def range_numbers(pool: Pool) -> Numbers:
    """Table 1: ranges and clusters by both methods."""
    values = {"pairwise": pool["errors", 10.0]["pairwise"],
              "bootstrap": pool["ranges", 10.0]["bootstrap"]}  # fmt: skip
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
            for name, rank in (("first", item.low_rank), ("last", item.high_rank)):
                number = f"{lp} {place} {name}"
                reason = REASONS.get(number, END_MOVES)
                ours[number] = OurNumber(rank, reason=reason, note=item.system)
        ours[f"{lp} clusters"] = OurNumber(ranking.clusters)
        reason = "all pairs of all screens, ties and blanks among them; the paper says 'about'"
        ours[f"{lp} judgments"] = OurNumber(ranking.judgments, reason=reason)
    return ours


def need_numbers(pool: Pool) -> Numbers:
    """Table 4: judgments for a share of significant pairs; section 6: the share at some."""
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
    """Figure 3: pairs in the wrong order by method."""
    values = pool["errors", 20.0]
    return {
        number: _simulated(number, values[method][:, k], PAPER_RUNS["Figure 3"])
        for method in METHODS[:3]
        for k, size in enumerate(SIZES)
        for number in [f"{method} {size} error"]
    }


def sigma_numbers(real: Mapping[str, RealCampaign]) -> Numbers:
    """Figure 2: sigma by matching curves; the paper chose whole numbers."""
    ours = {
        f"{lp} sigma": OurNumber(
            campaign.match.sigma,
            note=_apart(campaign),
            reason="the whole number whose curve is nearest, by eye",
        )
        for lp, campaign in real.items()
    }
    if len(real) == 8:
        sigmas = {lp: campaign.match.sigma for lp, campaign in real.items()}
        for name, choose in (("lowest", min), ("highest", max)):
            lp = choose(sigmas, key=lambda lp: sigmas[lp])
            reason = REASONS.get(f"{name} sigma", "")
            ours[f"{name} sigma"] = OurNumber(sigmas[lp], note=lp, reason=reason)
    return ours


def _apart(campaign: RealCampaign) -> str:
    return f"curves {100 * campaign.match.distance:.1f} points apart"


def _beside(
    pool: Pool, real: Mapping[str, RealCampaign], *, figures: bool
) -> Iterator[PrintedCell]:
    yield from _literal_cells(pool, real)
    yield from _share_cells(pool)
    yield from _uniform_cells(pool, real)
    for lp, campaign in sorted(real.items()):
        ends = campaign.fit.interval
        yield beside("Figure 2", lp, "sigma by likelihood", campaign.fit.sigma, digits=2,
                     note=f"95 % interval {ends.low:.1f} to {ends.high:.1f}")  # fmt: skip
        if lp not in RANKED:
            yield beside("Figure 2", lp, "sigma by curve", campaign.match.sigma, digits=2,
                         note=_apart(campaign))  # fmt: skip
    yield from _error_cells(pool)
    yield from _reading_cells(pool, real)
    for size in BEYOND_SIZES:
        for variant in VARIANTS:
            for name, values in pool["beyond", variant, size].items():
                yield beside("beyond", f"{variant.name}, {size:,}", name, *mean_error(values),
                             digits=2)  # fmt: skip
    if figures:
        yield from _figure_cells(real)


def _literal_cells(pool: Pool, real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """The bootstrap to the letter of the paper: single judgments, cut at both ends."""
    printed = printed_values("koehn2012")
    values = pool["ranges", 10.0]["literal"]
    for k, size in enumerate(SIZES):
        for c, what in enumerate(WHAT):
            paper = printed[f"bootstrap {size} {what}"]
            yield beside("Table 1, literal", f"bootstrap {size:,}", what,
                         *mean_error(values[:, k, c]), paper=paper, digits=2)  # fmt: skip
    for lp, table in RANKED.items():
        if lp not in real or f"{lp} {len(real[lp].named.systems)} first" not in printed:
            continue
        for place, item in enumerate(real[lp].literal.systems, 1):
            for name, ours in (("first", item.low_rank), ("last", item.high_rank)):
                paper = printed[f"{lp} {place} {name}"]
                yield beside(f"{table}, literal", f"{place} {item.system}", name, ours,
                             paper=paper, digits=0)  # fmt: skip
        yield beside(f"{table}, literal", lp, "clusters", real[lp].literal.clusters,
                     paper=printed[f"{lp} clusters"], digits=0)  # fmt: skip


def _share_cells(pool: Pool) -> Iterator[PrintedCell]:
    """Table 4 from the other side: the share of significant pairs at the printed judgments."""
    for n, sigma, share, judgments in needs():
        ours = float(pool["share", n, sigma, judgments]["share"][0])
        yield beside("Table 4, shares", f"{n} systems, sigma {sigma:g}", f"{share:.0%}", ours,
                     paper=share, note=f"share at {judgments:,}", digits=3)  # fmt: skip


def _uniform_cells(pool: Pool, real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """Figure 1: are win ratios uniform? Kolmogorov's test of those between the ends."""
    from scipy.stats import kstwo

    for lp, campaign in real.items():
        scores = np.array([item.score for item in campaign.named.systems])
        for name, kept in (("all systems", scores), ("without the last", scores[:-1])):
            if len(kept) >= 4:
                p = float(kstwo.sf(uniform_distance(kept), len(kept) - 2))
                yield beside("Figure 1", lp, f"p of uniform, {name}", p, digits=3)
    far = 100 * (pool["errors", 10.0]["distance"] > kstwo.isf(LEVEL, 13)).astype(float)
    yield beside("Figure 1", "simulated, 50,000 judgments", "campaigns with p < .05, %",
                 *mean_error(far), digits=2)  # fmt: skip


def _error_cells(pool: Pool) -> Iterator[PrintedCell]:
    """Figure 3 at the sizes and with the sigma that the text has no numbers of."""
    printed = printed_values("koehn2012")
    for sigma in (20.0, 10.0):
        table = "Figure 3" if sigma == 20 else "Figure 3, sigma 10"
        for method in METHODS:
            for k, size in enumerate(SIZES):
                paper = printed.get(f"{method.partition(',')[0]} {size} error")
                if sigma == 10 or paper is None or method == METHODS[3]:
                    ours = mean_error(pool["errors", sigma][method][:, k])
                    yield beside(table, method, f"{size:,}", *ours, paper=paper, digits=2)


def _reading_cells(pool: Pool, real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """What the readings rest on: the paper's numbers beside those of the other reading."""
    printed = printed_values("koehn2012")
    for k, size in enumerate(SIZES):
        ours = mean_error(pool["errors", 10.0]["two-sided"][:, k, 0])
        yield beside("readings", "sign test two-sided, Table 1", f"size at {size:,}", *ours,
                     paper=printed[f"pairwise {size} size"], digits=2)  # fmt: skip
    for n, sigma, share, judgments in needs():
        if (n, sigma) == (15, 10.0):
            reached = float(pool["share", n, float(np.sqrt(sigma)), judgments]["share"][0])
            yield beside("readings", "sigma^2 = 10 as a variance, Table 4",
                         f"share at {judgments:,}", reached, paper=share, digits=3)  # fmt: skip
    for name in ("named", "literal"):
        pairs = [
            (rank, printed.get(f"{lp} {place} {end}"))
            for lp in RANKED if lp in real
            for place, item in enumerate(getattr(real[lp], name).systems, 1)
            for end, rank in (("first", item.low_rank), ("last", item.high_rank))
        ]  # fmt: skip
        if pairs:
            same = sum(ours == paper for ours, paper in pairs)
            yield beside("readings", f"Tables 2 and 3, {name}", f"equal ends of {len(pairs)}", same,
                         digits=0)  # fmt: skip
    for lp in RANKED:
        if lp in real:
            yield beside("readings", f"{lp}, {real[lp].blanks} blanks dropped", "largest shift",
                         real[lp].shift, digits=4)  # fmt: skip


def _figure_cells(real: Mapping[str, RealCampaign]) -> Iterator[PrintedCell]:
    """The points of Figure 1 and the curves of Figure 2: significant pairs (%) by judgments."""
    for lp, campaign in real.items():
        for item in campaign.named.systems:
            yield beside("win ratios", lp, item.system, item.score, digits=3)
    for lp, campaign in real.items():
        match = campaign.match
        for size, share, model in zip(match.judgments, match.shares, match.model, strict=True):
            for name, value in (("actual", share), ("model", model)):
                yield beside("curves", lp, f"{name} at {size:.0f}", 100 * value, digits=1)
