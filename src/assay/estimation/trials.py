"""Results of estimators and stopping rules that were tried on a fully rated test set."""

from __future__ import annotations

from dataclasses import dataclass

from assay.results import Note, Result, signature


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """One method for one system at one size, over all draws.

    ``error`` is the mean absolute error with its standard deviation ``sd``, ``bias`` the mean
    error, ``coverage`` the share of intervals that contain the truth, ``half_width`` the mean.
    """

    method: str
    system: str
    size: float
    n: int
    draws: int
    error: float
    sd: float
    bias: float
    coverage: float
    half_width: float


@dataclass(frozen=True, slots=True)
class StoppingRecord:
    """One stopping rule for one system: mean share of N rated at the stop, and coverage there."""

    system: str
    method: str
    share: float
    coverage: float
    draws: int


@dataclass(frozen=True, slots=True)
class MethodEvaluation:
    """One method, averaged over systems and sizes (saldias2022, Tables 1 to 4).

    ``gain`` is the reduction of the mean absolute error against ``baseline`` in percent,
    ``gain_error`` its Monte-Carlo standard error, ``win`` the share of systems and sizes where the
    method's error is lower. ``bias`` is relative to the baseline's error, where there is one.
    ``worst_coverage`` is that of the worst system over all sizes.
    """

    method: str
    error: float
    sd: float
    gain: float | None
    gain_error: float | None
    win: float | None
    bias: float
    coverage: float
    worst_coverage: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Evaluation(Result, kind="evaluation", listing="methods"):
    """The methods, and every record behind them.

    ``stopping`` has the rules that were tried until intervals had the ``half_width``, if any were.
    """

    methods: tuple[MethodEvaluation, ...]
    records: tuple[EvaluationRecord, ...]
    draws: int
    seed: int | None
    stopping: tuple[StoppingRecord, ...] = ()
    half_width: float | None = None
    metrics: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    composite: tuple[CompositeRecord, ...] = ()
    """The composite order tried at every size."""

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        sizes = sorted({record.size for record in self.records})
        span = f"{sizes[0]:g}-{sizes[-1]:g}" if sizes else "none"
        return signature("evaluate", sizes=span, draws=self.draws, seed=self.seed)


@dataclass(frozen=True, slots=True)
class CompositeRecord:
    """Samples of one size: pairs in the right order and errors of differences, both ways.

    ``coverage`` is that of the composite's intervals over pairs, ``worst_coverage`` over the pairs
    of the worst system. ``said`` is the mean probability given to the side that was preferred,
    ``order`` how often that side was right: the two should agree.
    """

    size: float
    n: int
    draws: int
    direct_order: float
    order: float
    direct_rms: float
    rms: float
    coverage: float
    worst_coverage: float
    said: float
