"""What the methods paragraph of a report refers to."""

from __future__ import annotations

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
