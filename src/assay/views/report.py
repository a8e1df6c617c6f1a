"""A report: sections in the order in which a reader wants them, and its references."""

from __future__ import annotations

from dataclasses import dataclass

from assay.views.section import Section, Stage, some

REFERENCES = {
    "saldias2022": (
        "Belén Saldías, George Foster, Markus Freitag and Qijun Tan. 2022. Toward More Effective"
        " Human Evaluation for Machine Translation. HumEval 2022."
    ),
    "lo2023": (
        "Chi-kiu Lo and Rebecca Knowles. 2023. Data Sampling and (In)stability in Machine"
        " Translation Evaluation. Findings of ACL 2023."
    ),
    "koehn2012": (
        "Philipp Koehn. 2012. Simulating Human Judgment in Machine Translation Evaluation"
        " Campaigns. IWSLT 2012."
    ),
    "korotaev2022": (
        "Stepan Korotaev and Andrey Ryabchikov. 2022. Picking Out the Best MT Model: On the"
        " Methodology of Human Evaluation. AMTA 2022."
    ),
    "sarndal1992": (
        "Carl-Erik Särndal, Bengt Swensson and Jan Wretman. 1992. Model Assisted Survey Sampling."
        " Springer."
    ),
    "fay1979": (
        "Robert E. Fay and Roger A. Herriot. 1979. Estimates of Income for Small Places. Journal of"
        " the American Statistical Association 74."
    ),
    "armstrong2022": (
        "Timothy B. Armstrong, Michal Kolesár and Mikkel Plagborg-Møller. 2022. Robust Empirical"
        " Bayes Confidence Intervals. Econometrica 90."
    ),
    "lan1983": (
        "K. K. Gordon Lan and David L. DeMets. 1983. Discrete Sequential Boundaries for Clinical"
        " Trials. Biometrika 70."
    ),
    "cochran1977": "William G. Cochran. 1977. Sampling Techniques, third edition. Wiley.",
    "grafstrom2012": (
        "Anton Grafström, Niklas Lundström and Lina Schelin. 2012. Spatially Balanced Sampling"
        " through the Pivotal Method. Biometrics 68."
    ),
    "waudbysmith2024": (
        "Ian Waudby-Smith and Aaditya Ramdas. 2024. Estimating Means of Bounded Random Variables"
        " by Betting. Journal of the Royal Statistical Society B 86."
    ),
    "bradley1952": (
        "Ralph A. Bradley and Milton E. Terry. 1952. Rank Analysis of Incomplete Block Designs I."
        " Biometrika 39."
    ),
    "davidson1970": (
        "Roger R. Davidson. 1970. On Extending the Bradley-Terry Model to Accommodate Ties in"
        " Paired Comparison Experiments. Journal of the American Statistical Association 65."
    ),
    "efron1993": (
        "Bradley Efron and Robert J. Tibshirani. 1993. An Introduction to the Bootstrap."
        " Chapman and Hall."
    ),
    "holm1979": (
        "Sture Holm. 1979. A Simple Sequentially Rejective Multiple Test Procedure. Scandinavian"
        " Journal of Statistics 6."
    ),
    "krippendorff2011": (
        "Klaus Krippendorff. 2011. Computing Krippendorff's Alpha-Reliability. University of"
        " Pennsylvania."
    ),
    "patterson1971": (
        "H. Desmond Patterson and Robin Thompson. 1971. Recovery of Inter-Block Information when"
        " Block Sizes are Unequal. Biometrika 58."
    ),
    "wilcoxon1945": (
        "Frank Wilcoxon. 1945. Individual Comparisons by Ranking Methods. Biometrics Bulletin 1."
    ),
    "schuirmann1987": (
        "Donald J. Schuirmann. 1987. A Comparison of the Two One-Sided Tests Procedure and the"
        " Power Approach. Journal of Pharmacokinetics and Biopharmaceutics 15."
    ),
}
"""Key to reference, in the style of the ACL."""


STAGES: tuple[Stage, ...] = (
    "plan", "sample", "kits", "collect", "estimate", "rank", "effort", "audit", "research",
)  # fmt: skip
"""The order of the sections on a page."""

FIRST = ("estimates", "ranking", "effort", "audit", "campaign-results")
"""Whose answer a page begins with: the first of these that there is."""


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report; ``facts`` say what campaign it is about."""

    title: str
    sections: tuple[Section, ...]
    version: str
    facts: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[Section, ...]:
        """What a page begins with: the answers of one kind, one for each test set."""
        own = [part for part in self.sections if not part.folded] or list(self.sections)
        own = [part for part in own if part.question] or own[:1]
        kinds = [part.name for part in own]
        first = next((name for name in FIRST if name in kinds), kinds[0])
        return tuple(part for part in own if part.name == first)

    @property
    def others(self) -> tuple[Section, ...]:
        """What follows, folded: other answers, then how they came about."""
        rest = [part for part in self.sections if part not in self.answers]
        return tuple(sorted(rest, key=lambda part: not part.question or part.folded))

    @property
    def about(self) -> tuple[str, ...]:
        """The campaign in a few words each."""
        first = self.answers
        told = first if len(first) == 1 else ()
        others = [part for part in self.others if not part.question]
        return tuple(dict.fromkeys(
            fact for part in (self, *told, *others) for fact in part.facts
        ))  # fmt: skip

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, by the answers that a page begins with, each thing once."""
        return tuple(dict.fromkeys(line for part in self.answers for line in part.next))

    @property
    def methods(self) -> str:
        """The paragraph for a paper."""
        order = sorted(self.sections, key=lambda part: not part.question)
        said = dict.fromkeys(part.methods for part in order if part.methods)
        versions = sorted({part.version or self.version for part in self.sections})
        each = ", as the signatures say" if len(versions) > 1 else ""
        computed = f"All numbers were computed with Assay {some(versions)}{each}."
        return " ".join([*said, computed])

    @property
    def references(self) -> tuple[str, ...]:
        """The references of the paragraph, each once."""
        keys = dict.fromkeys(key for part in self.sections for key in part.sources)
        return tuple(REFERENCES[key] for key in keys)


def file_stem(section: str, block: str) -> str:
    """What the file of a block is called.

    >>> file_stem("effort", "effort-costs"), file_stem("effort", "effort"), file_stem("a", "b")
    ('effort-costs', 'effort', 'a-b')
    """
    return block if f"{block}-".startswith(f"{section}-") else f"{section}-{block}"
