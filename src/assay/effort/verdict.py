"""What may be concluded from an analysis of effort, what it leaves open, and what to warn of.

The verdict follows time, which is what is paid for, if tools recorded it; otherwise distance, which
every segment has. The result also says where another measure contradicts the verdict or decides
what the verdict leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from assay.effort.model import EffortModel, Floats, Ints, Names, deviations
from assay.results import Note, money_text, p_value, time_text
from assay.stats.intervals import POWER, interval_within, smallest, t_quantile
from assay.stats.power import detectable_shift
from assay.stats.reml import detectable_gap, editors_needed

if TYPE_CHECKING:
    from assay.effort.randomisation import Chances
    from assay.effort.results import EffortDifference

COMPARING_LEVEL = 0.83
"""The level at which intervals that do not touch mean a difference (korotaev2022, Figure 2)."""
MOST_DOCUMENTS = 10_000
"""The most documents that advice asks for."""
ENOUGH_TIMES = 0.8
"""The verdict follows time if at least this share of every system's segments has one."""
ORDER = ("time", "distance", "hter", "changed")
"""The measures in the order in which the verdict prefers them."""


@dataclass(frozen=True, slots=True)
class Objection:
    """A measure by which ``less`` is decidedly better than ``more``, unlike in the verdict."""

    measure: str
    less: str
    more: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best system by the decisive measure, and its nearest rival.

    The rival is the best of the other systems that may still be as good, or of all if none may.
    """

    measure: str
    why: Literal["paid-for", "no-times", "few-times", "time-left-out"]
    """Why this measure is the decisive one."""
    timed: float
    """The least share of segments with a time that any system has."""
    best: str
    rival: str
    decided: bool
    """Whether the best system is decidedly better than all others."""
    beats: tuple[str, ...]
    open: tuple[str, ...]
    """Systems that may be at least as good as the best."""
    objections: tuple[Objection, ...]


@dataclass(frozen=True, slots=True)
class DocumentShare:
    """One document's effort over that of the average document, on one measure."""

    ratio: float
    low: float
    high: float
    low83: float
    high83: float
    verdict: Literal["alike", "unlike", "undetermined"]
    """Whether the interval is inside the margin, outside it, or neither."""


@dataclass(frozen=True, slots=True)
class DocumentEffort:
    """One document on every measure, compared with the average document."""

    document: str
    segments: int
    words: float
    measures: Mapping[str, DocumentShare]


def judge(
    means: Mapping[str, Mapping[str, float]], differences: Sequence[EffortDifference], *,
    timed: float | None, human: str | None,
) -> Verdict | None:  # fmt: skip
    """The verdict from the systems' ``means`` by measure; None if no measure has two systems.

    The human translation competes only if there is a single other system. ``timed`` is the least
    share of segments with a time, None if time was not asked for.
    """
    measures = [name for name in ORDER if name in means]
    if timed is not None and timed < ENOUGH_TIMES and len(measures) > 1:
        measures = [name for name in measures if name != "time"]
    for measure in measures:
        known = {name: value for name, value in means[measure].items() if value == value}
        engines = [name for name in known if name != human]
        ranked = sorted(engines if len(engines) > 1 else known, key=lambda name: known[name])
        if len(ranked) > 1:
            return _verdict(measure, ranked, differences, timed)
    return None


def _verdict(
    measure: str, ranked: Sequence[str], differences: Sequence[EffortDifference],
    timed: float | None,
) -> Verdict:  # fmt: skip
    best, *others = ranked
    decided = {(item.measure, *less_and_more(item)) for item in differences if item.decided}
    beats = tuple(name for name in others if (measure, best, name) in decided)
    still = tuple(name for name in others if name not in beats)
    objections = [
        Objection(name, less, more)
        for name, less, more in sorted(decided)
        if name != measure and {less, more} <= {*ranked}
        and (more == best or (best == less and more in still))
    ]  # fmt: skip
    if measure == "time":
        why: Literal["paid-for", "no-times", "few-times", "time-left-out"] = "paid-for"
    else:
        why = "time-left-out" if timed is None else "few-times" if timed else "no-times"
    return Verdict(
        measure, why, timed or 0.0, best, (still or beats)[0], not still, beats, still,
        tuple(objections),
    )  # fmt: skip


def less_and_more(item: EffortDifference) -> tuple[str, str]:
    """The system with less effort, then the one with more."""
    return (item.left, item.right) if item.difference < 0 else (item.right, item.left)


def needed_to_decide(
    differences: Sequence[EffortDifference], models: Mapping[str, EffortModel], level: float, *,
    place: bool,
) -> list[int | None]:  # fmt: skip
    """The number of editors needed to decide each difference, if its observed value is true.

    If documents limit the precision, it is the number of documents. The variance behind the
    standard error is assumed to stay. None if a difference is decided or 0, or if no number is
    enough.
    """
    needed: list[int | None] = []
    for item in differences:
        model = models[item.measure]
        if item.decided or not item.stderr > 0 or item.difference == 0:
            needed.append(None)
        elif model.document_degrees:
            needed.append(_documents_needed(item, model, level))
        else:
            needed.append(editors_needed(
                item.difference, variance=_variance(item, models), level=level, power=POWER,
                systems=len(model.means), place=place,
            ))  # fmt: skip
    return needed


def _documents_needed(item: EffortDifference, model: EffortModel, level: float) -> int | None:
    now, lost = len(model.document_sizes), len(model.document_sizes) - model.document_degrees

    def enough(documents: int) -> bool:
        shift = abs(item.difference) / item.stderr * (documents / now) ** 0.5
        return bool(shift >= detectable_shift(float(documents - lost), level, POWER))

    number = smallest(enough, MOST_DOCUMENTS, lost + 1)
    return None if number == MOST_DOCUMENTS else number


def _variance(item: EffortDifference, models: Mapping[str, EffortModel]) -> float:
    """The variance of one editor's mean over one document, behind the standard error."""
    return item.stderr**2 * models[item.measure].editors / 2


def difference_warnings(
    differences: Sequence[EffortDifference], models: Mapping[str, EffortModel],
    needed: Sequence[int | None], level: float, verdict: Verdict | None, *, place: bool,
) -> list[Note]:  # fmt: skip
    """Warn of differences that depend on one editor, or that are too small for so few editors."""
    warnings = []
    for item, number in zip(differences, needed, strict=True):
        # The sentence begins with a word of its own: a name would be capitalised.
        pair = f"between {item.left} and {item.right} by {item.measure}"
        if item.deciding_editors:
            warnings.append(Note(
                "one-editor-decides",
                f"{pair}, leaving out {' or '.join(item.deciding_editors)} changes the verdict or"
                f" the sign of the difference ({item.least:.3g} to {item.most:.3g})",
            ))  # fmt: skip
        if item.decided or not item.stderr > 0 or item.difference == 0:
            continue
        if verdict is not None and verdict.best not in (item.left, item.right):
            continue
        model = models[item.measure]
        if model.document_degrees:
            visible = detectable_shift(item.degrees, level, POWER) * item.stderr
        else:
            visible = detectable_gap(
                variance=_variance(item, models), editors=model.editors, systems=len(model.means),
                level=level, power=POWER, place=place,
            )  # fmt: skip
        now, what = _limit(model)
        count = f"more {what} than can be had" if number is None else f"about {number} {what}"
        warnings.append(Note(
            f"too-few-{what}",
            f"{pair}, {now} {what} can detect a difference of {visible:.3g} with {POWER:.0%}"
            f" probability; for the observed one, {abs(item.difference):.3g}, {count} are needed",
        ))  # fmt: skip
    return warnings


def _limit(model: EffortModel) -> tuple[int, str]:
    """How many editors or documents limit the precision, and which of the two."""
    if model.document_degrees:
        return len(model.document_sizes), "documents"
    return model.editors, "editors"


def next_steps(
    verdict: Verdict | None, differences: Sequence[EffortDifference],
    models: Mapping[str, EffortModel], needed: Sequence[int | None], *, hours: float | None,
    rate: float | None, currency: str | None,
) -> tuple[str, ...]:  # fmt: skip
    """How many more editors or documents decide between the best system and its rival.

    ``hours`` is the mean time an editor worked in this comparison, ``rate`` the price of an hour.
    """
    if verdict is None or verdict.decided:
        return ()
    pair = {verdict.best, verdict.rival}
    item, number = next(
        both for both in zip(differences, needed, strict=True)
        if both[0].measure == verdict.measure and {both[0].left, both[0].right} == pair
    )  # fmt: skip
    names = f"{verdict.best} and {verdict.rival}"
    if not item.stderr > 0 or item.difference == 0:
        return (f"these edits show no difference between {names}",)
    now, what = _limit(models[item.measure])
    if number is None:
        return (f"{names}: no realistic number of {what} decides a difference as small as this",)
    more = max(1, number - now)
    like = f"{what} with kits like these" if what == "editors" else f"{what} like these"
    spent = _spent(more, hours, rate, currency) if what == "editors" else ""
    return (
        f"to decide between {names} by {item.measure} ({p_value(item.p)}): about {more} more"
        f" {like}{spent}, {now + more} in all, detect such a difference with {POWER:.0%}"
        " probability",
    )


def _spent(editors: int, hours: float | None, rate: float | None, currency: str | None) -> str:
    """The hours and the money that so many editors cost, in brackets, if they are known."""
    if not hours:
        return ""
    spent = time_text(60 * editors * hours)
    if rate is not None:
        spent += f", {money_text(editors * hours * rate, currency)}"
    return f" ({spent})"


def summarise_documents(
    frame: pl.DataFrame, cells: pl.DataFrame, measures: Sequence[str], names: Names, alike: float,
    level: float,
) -> tuple[DocumentEffort, ...]:  # fmt: skip
    """The effort of every document relative to the average document."""
    shares = {name: _shares(cells, name, names, alike, level) for name in measures}
    rows = []
    for number, doc in enumerate(names.documents):
        segments = frame.filter(pl.col("doc") == doc).unique("seg", keep="first")
        listed = {name: column[number] for name, column in shares.items()}
        words = float(segments["words"].sum())
        rows.append(DocumentEffort(doc, segments.height, words, listed))
    return tuple(rows)


def _shares(
    cells: pl.DataFrame, measure: str, names: Names, alike: float, level: float
) -> list[DocumentShare]:
    """A measure's shares, tested by two one-sided tests: intervals of level 2 level - 1."""
    values = cells[measure].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    known = np.isfinite(values)
    unknown = _share([float("nan")] * 5, alike)
    logs = measure == "time" and bool((values[known] > 0).all())
    # Cells without a value are left out, and editors who have none at all with them.
    values = values[known]
    system, document, editor = (code[known] for code in names.codes(cells))
    editor = np.unique(editor, return_inverse=True)[1]
    whole = all(
        len(np.unique(code)) == count
        for code, count in ((system, len(names.systems)), (document, len(names.documents)))
    )
    if len(names.documents) < 2 or not whole or values.mean() <= 0:
        return [unknown] * len(names.documents)
    deviation, error, degrees = _document_shares(values, system, document, editor, logs=logs)
    if degrees < 1:
        return [unknown] * len(names.documents)
    levels = (2 * level - 1, COMPARING_LEVEL)
    if logs:
        wide, narrow = (t_quantile((1 + q) / 2, degrees) for q in levels)
        steps = np.array([0.0, -wide, wide, -narrow, narrow])
        ends = np.exp(deviation[:, None] + error[:, None] * steps)
        return [_share(row, alike) for row in ends.tolist()]
    # A document has between none and all of the effort.
    most = float(len(names.documents))
    rows = []
    for ratio, spread in zip((1 + deviation).tolist(), error.tolist(), strict=True):
        both = [interval_within(ratio, spread, degrees, q, 0.0, most) for q in levels]
        rows.append(_share([ratio, *(end for one in both for end in (one.low, one.high))], alike))
    return rows


def _document_shares(
    values: Floats, system: Ints, document: Ints, editor: Ints, *, logs: bool
) -> tuple[Floats, Floats, int]:
    """Each document's deviation from the average, its standard error, degrees of freedom.

    System, document and editor explain the values of the cells. The documents are fixed: nothing
    is claimed about others of their kind. With ``logs`` the deviations are logarithms of ratios,
    otherwise shares of the overall mean.
    """
    documents = int(document.max()) + 1
    y = np.log(values) if logs else values / values.mean()
    matrix = np.hstack([deviations(document), np.eye(editor.max() + 1)[editor], deviations(system)])
    degrees = len(y) - int(np.linalg.matrix_rank(matrix))
    if np.linalg.matrix_rank(matrix) < matrix.shape[1] or degrees < 1:
        return np.full(documents, np.nan), np.full(documents, np.nan), 0
    inverse = np.linalg.inv(matrix.T @ matrix)
    beta = inverse @ matrix.T @ y
    spread = float(np.sum((y - matrix @ beta) ** 2)) / degrees
    weights = np.vstack([np.eye(documents - 1), -np.ones(documents - 1)])
    covariance = spread * inverse[: documents - 1, : documents - 1]
    errors = np.sqrt(np.einsum("ij,jk,ik->i", weights, covariance, weights))
    return weights @ beta[: documents - 1], errors, degrees


def _share(ends: list[float], alike: float) -> DocumentShare:
    ratio, low, high, low83, high83 = ends
    verdict: Literal["alike", "unlike", "undetermined"] = "undetermined"
    if 1 / alike <= low and high <= alike:
        verdict = "alike"
    elif high < 1 / alike or low > alike:
        verdict = "unlike"
    return DocumentShare(ratio, low, high, low83, high83, verdict)


def design_warnings(
    cells: pl.DataFrame, names: Names, models: Mapping[str, EffortModel], *, assumed: bool
) -> list[Note]:
    """Warn of assumptions, of positions that are confounded with documents, of unbalanced kits."""
    warnings = []
    model = next(iter(models.values()))
    if assumed and model.document_degrees:
        warnings.append(Note(
            "documents-random",
            f"documents are assumed alike in kind: the differences between the"
            f" {len(names.documents)} of them count as chance, with {model.document_degrees}"
            " degrees of freedom",
        ))  # fmt: skip
    elif assumed:
        warnings.append(Note(
            "documents-assumed-alike",
            "documents are assumed to be alike: a harder document counts against the system that"
            " translated it",
        ))  # fmt: skip
    if len(names.documents) > 1 and "place" not in model.fixed:
        warnings.append(_place_warning(cells))
    twice = cells.group_by("editor", "system", maintain_order=True).len().filter(pl.col("len") > 1)
    if twice.height:
        row = twice.row(0, named=True)
        warnings.append(Note(
            "system-twice",
            f"{twice.height} times an editor had a system in more than one document (first:"
            f" {row['editor']}, {row['system']}), so the kits are not balanced. Degrees of freedom"
            " are approximate, and with few editors the intervals are rough",
        ))  # fmt: skip
    return warnings


def _place_warning(cells: pl.DataFrame) -> Note:
    known = cells["place"].null_count() == 0
    order = cells.sort("place", maintain_order=True) if known else cells
    orders = order.group_by("editor", maintain_order=True).agg("doc")["doc"].to_list()
    if all(docs == orders[0] for docs in orders):
        source = "" if known else " (judging by the order of the rows)"
        return Note(
            "place-is-document",
            f"every editor had the documents in the same order{source}: fatigue and document"
            " cannot be told apart; rotate the order next time (assay kits design)",
        )
    if known:
        return Note(
            "place-left-out",
            "the model does not allow for the order of documents: it is tied to the systems, or"
            " there are too few editors",
        )
    return Note("place-unknown", "no positions are given, so the model does not allow for fatigue")


def warnings_of_tests(
    chances: Mapping[str, Chances], models: Mapping[str, EffortModel]
) -> list[Note]:  # fmt: skip
    """Warn of tests that are impossible: kits that cannot be reassigned, or no spread."""
    groups = (
        ("nothing-to-deal-out",
         [name for name, item in chances.items() if any(p != p for p in item.pairs.values())],
         "some pairs have no randomisation test: exchanging kits between editors with the same"
         " documents never changes who edited these systems"),
        ("not-linked",
         [name for name, model in models.items() if model.unlinked.shape[1]],
         "documents are missing, and no editor's remaining work separates these systems from"
         " their documents; the differences are undetermined, since they would depend on how fast"
         " the editors are"),
        ("no-spread",
         [name for name, item in models.items() if item.fit is None and np.ptp(item.means)],
         "systems, documents, editors and segments explain every value exactly, so there is no"
         " spread by which to judge a difference; only the randomisation test can do that"),
    )  # fmt: skip
    return [Note(code, f"{', '.join(names)}: {text}") for code, names, text in groups if names]
