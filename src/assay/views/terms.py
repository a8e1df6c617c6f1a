"""One-line explanations of the field's words, for readers who point at them."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

TERMS = {
    "95% interval": "If this were repeated many times, 95 of 100 such intervals would contain the"
    " true value.",
    "83% interval": "Two systems whose 83% intervals do not touch differ at about the 5% level.",
    "rank ranges?": "The ranks that a system may have, given what is decided.",
    "ranks": "The ranks that a system may have, given what is decided.",
    "clusters?": "All differences across clusters are decided; inside a cluster some are open.",
    "decided": "The data rule out, at the stated level, that the two are equal.",
    "p": "How often equal systems would look at least this different by chance.",
    r"p \(Holm\)": "p, corrected for the number of pairs that are tested.",
    "Holm": "A correction for many tests: the more pairs, the stronger the evidence that each"
    " needs.",
    "Krippendorff's alpha": "Agreement of raters: 1 is perfect, 0 is what chance gives.",
    "severity": "How much stricter than the average rater, on the same outputs.",
    "regression": "Metrics predict the score of each segment; ratings correct the prediction.",
    "control variates?": "A metric known for all segments corrects for the luck of the draw.",
    "signature": "How the numbers were made, in one line; those with equal signatures can be"
    " compared.",
    "snippets?": "Some consecutive segments of one document.",
    "stratum|strata": "A part of the test set that is sampled separately.",
    "inclusion probabilit(?:y|ies)": "How likely it was that a segment would be drawn.",
    "matched": "All systems are rated on the same segments.",
    "expected win": "How often a system wins against another one, chosen at random.",
    "blocks?": "What is drawn together when results are resampled.",
    "bootstrap": "The data are resampled many times to see how results vary.",
    "randomisation p": "p from reassigning the work in every possible way.",
    "parity": "At most a stated amount more effort than a human translation needs.",
    "half-width": "Half the length of an interval: the ± of a score.",
    "stable": "The chance that a repeat of this size gives the same order.",
    "power": "The chance of detecting a difference that really exists.",
}
"""Patterns of words and what they mean."""

FOUND = re.compile(
    r"(?<![\w“-])(?:" + "|".join(f"({term})" for term in TERMS) + r")(?![\w”-])", re.IGNORECASE
)


def explained(text: str, *, whole: bool = False) -> Markup:
    """Text as HTML, each term explained where it comes first; a heading only as a ``whole``.

    >>> print(explained("decided pairs", whole=True))
    decided pairs
    """
    if whole:
        match = FOUND.fullmatch(text)
        return escape(text) if match is None else _term(match)
    parts, end, seen = [], 0, set()
    for match in FOUND.finditer(text):
        # A single letter or a common word is a term in headings only.
        if match.lastindex in seen or match[0].lower() in ("p", "ranks", "decided", "stable"):
            continue
        seen.add(match.lastindex)
        parts += [escape(text[end : match.start()]), _term(match)]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def _term(match: re.Match[str]) -> Markup:
    meaning = list(TERMS.values())[(match.lastindex or 1) - 1]
    return Markup('<dfn tabindex="0" data-tip="{}">{}</dfn>').format(meaning, match[0])
