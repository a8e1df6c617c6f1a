"""Published error taxonomies and their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.errors import OptionError, did_you_mean
from assay.formats.mqm import GOOGLE_WEIGHTS, NO_ERROR, Weights
from assay.project.settings import Severity


@dataclass(frozen=True)
class Taxonomy:
    """Categories (nested, such as ``Accuracy/Omission``), severities and weights."""

    categories: tuple[str, ...]
    severities: tuple[str, ...]
    weights: Weights


def _tree(**kinds: str) -> tuple[str, ...]:
    return tuple(
        f"{name.replace('_', ' ')}/{kind.strip()}" if kind.strip() else name.replace("_", " ")
        for name, below in kinds.items()
        for kind in below.split(",")
    )


GOOGLE = Taxonomy(
    (*_tree(
        Accuracy="Addition,Omission,Mistranslation,Untranslated text,Creative Reinterpretation",
        Fluency="Character encoding,Grammar,Inconsistency,Punctuation,Register,Spelling",
        Terminology="Inappropriate for context,Inconsistent",
        Style="Awkward",
        Locale_convention="Address format,Currency format,Date format,Name format,"
        "Telephone format,Time format",
        Other="", Source_error="",
    ), "Non-translation!"),
    ("Minor", "Major", "Neutral"), GOOGLE_WEIGHTS,
)  # fmt: skip
"""Freitag et al. (2021), as used at WMT."""

CORE = Taxonomy(
    _tree(
        Terminology="Inconsistent with terminology resource,Inconsistent use of terminology,"
        "Wrong term",
        Accuracy="Mistranslation,Overtranslation,Undertranslation,Addition,Omission,"
        "Do not translate,Untranslated",
        Linguistic_conventions="Grammar,Punctuation,Spelling,Unintelligible,Character encoding,"
        "Textual conventions",
        Style="Organizational style,Third-party style,Inconsistent with external reference,"
        "Language register,Awkward style,Unidiomatic style,Inconsistent style",
        Locale_conventions="Number format,Currency format,Measurement format,Time format,"
        "Date format,Address format,Telephone format,Shortcut key",
        Audience_appropriateness="Culture-specific reference,Offensive",
        Design_and_markup="Layout,Markup tag,Truncation or text expansion,Missing text,"
        "Link or cross-reference",
        Custom="",
    ),
    ("Neutral", "Minor", "Major", "Critical"),
    Weights({"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 25.0}, {}, None),
)
"""MQM Core with the weights of its scoring model, which have no cap."""

PRESETS = {"google": GOOGLE, "mqm-core": CORE}


def make_taxonomy(
    categories: tuple[str, ...], severities: tuple[Severity, ...], weights: dict[str, float]
) -> Taxonomy:
    """Google's taxonomy, a named preset, or the user's own categories, with changed weights.

    A weight applies to a severity, a category, or ``category/severity``.
    """
    base = PRESETS.get(categories[0]) if len(categories) == 1 else None
    taxonomy = base or GOOGLE
    if categories and base is None:
        own = replace(GOOGLE_WEIGHTS, categories={NO_ERROR.lower(): 0.0}, cap=None)
        taxonomy = Taxonomy(categories, GOOGLE.severities, own)
    if severities:
        names = tuple(severity.name for severity in severities)
        given = {severity.name.lower(): severity.weight for severity in severities}
        taxonomy = replace(
            taxonomy, severities=names, weights=replace(taxonomy.weights, severities=given)
        )
    return replace(taxonomy, weights=_changed(taxonomy, weights))


def _changed(taxonomy: Taxonomy, changes: dict[str, float]) -> Weights:
    by_severity = dict(taxonomy.weights.severities)
    by_category = dict(taxonomy.weights.categories)
    severities = [name.lower() for name in taxonomy.severities]
    categories = [name.lower().rstrip("!") for name in taxonomy.categories]
    for name, weight in changes.items():
        category, _, severity = name.lower().rpartition("/")
        if name.lower() in severities:
            by_severity[name.lower()] = weight
        elif severity in severities and _begins(categories, category):
            by_category[f"{category.rstrip('!')}:{severity}"] = weight
        elif _begins(categories, name.lower()):
            by_category[name.lower().rstrip("!")] = weight
        else:
            known = [*taxonomy.severities, *taxonomy.categories]
            fault = f"names neither a severity nor a category{did_you_mean(name, known)}"
            remedy = "write a listed severity, category or category/severity"
            raise OptionError("weights", name, fault, remedy)
    return replace(taxonomy.weights, severities=by_severity, categories=by_category)


def _begins(categories: list[str], name: str) -> bool:
    """Whether it is a category, or a parent of one."""
    name = name.rstrip("!")
    return any(f"{category}/".startswith(f"{name}/") for category in categories)
