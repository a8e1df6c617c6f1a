"""Every system's score by each rater alone, beside the pooled one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.estimation.rater_results import RaterEstimate
from assay.estimation.study import Mean, Study
from assay.tables.answers import Ratings

FEWEST = 10
"""With fewer ratings of a system, a rater alone says nothing about it."""


def rater_estimates(study: Study, ratings: Ratings) -> tuple[RaterEstimate, ...]:
    """Pooled first (rater None), then each rater with enough ratings of a system.

    What a rater scored is taken as a random part of what all did, inside the classes by which
    skipped outputs are weighted.
    """
    systems = range(len(study.test_set.systems))
    found = [_wrapped(study, None, i, study.mean(i)) for i in systems]
    for rater in ratings.raters:
        scores = ratings.matrix(study.test_set, rater=rater)
        scores = np.where(np.isnan(study.rated.scores), np.nan, scores)
        alone = replace(study, rated=replace(study.rated, scores=scores))
        enough = (~np.isnan(scores)).sum(axis=1) >= FEWEST
        found += [_wrapped(study, rater, i, alone.mean(i)) for i in systems if enough[i]]
    return tuple(found)


def _wrapped(study: Study, rater: str | None, i: int, mean: Mean) -> RaterEstimate:
    return RaterEstimate(
        rater=rater,
        system=study.test_set.systems[i],
        estimate=mean.center,
        low=mean.interval.low,
        high=mean.interval.high,
        stderr=mean.stderr,
        n=mean.n,
        population=mean.population,
    )
