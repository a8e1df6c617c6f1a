"""What a sample says of itself: how much was drawn, and with which probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from assay.results import result_dict, signature
from assay.tables import Sample, TestSet

__all__ = ["SampleSummary", "summarise"]


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """The size and the probabilities of a sample."""

    n: int
    population: int
    design: str
    seed: int | None
    min_probability: float
    max_probability: float

    @property
    def signature(self) -> str:
        """How the sample was drawn, in one line."""
        return signature(self.design, n=f"{self.n}/{self.population}", seed=self.seed)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay sample``."""
        return result_dict(
            "sample",
            self.signature,
            n=self.n,
            population=self.population,
            design=self.design,
            seed=self.seed,
            min_probability=self.min_probability,
            max_probability=self.max_probability,
        )


def summarise(test_set: TestSet, sample: Sample) -> SampleSummary:
    """Describe a sample drawn from this test set."""
    probability = sample.frame["probability"]
    return SampleSummary(
        n=len(sample),
        population=test_set.segments.height,
        design=sample.design.name,
        seed=sample.design.seed,
        min_probability=float(probability.min()),  # type: ignore[arg-type]
        max_probability=float(probability.max()),  # type: ignore[arg-type]
    )
