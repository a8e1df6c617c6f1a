"""One section for each kind of saved result, in the order of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import InputError
from assay.report.document import Section
from assay.report.sections.audit import audit_section
from assay.report.sections.choices import (
    kit_design_section,
    next_section,
    next_sets_section,
)
from assay.report.sections.effort import effort_section, kits_section
from assay.report.sections.estimates import (
    breakdown_section,
    estimates_section,
    monitoring_section,
)
from assay.report.sections.plans import (
    comparison_section,
    editors_section,
    judgments_section,
    ratings_section,
)
from assay.report.sections.ranking import ranking_section
from assay.report.sections.raters import raters_section
from assay.report.sections.sampling import sample_section, stability_section
from assay.report.sections.trials import evaluation_section, reproduction_section

__all__ = ["SECTIONS", "make_section"]

SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "plan-ratings": ratings_section,
    "plan-comparison": comparison_section,
    "plan-judgments": judgments_section,
    "editors-plan": editors_section,
    "stability": stability_section,
    "sample": sample_section,
    "kits": kits_section,
    "kit-design": kit_design_section,
    "next": next_section,
    "next-sets": next_sets_section,
    "raters": raters_section,
    "monitoring": monitoring_section,
    "estimates": estimates_section,
    "breakdown": breakdown_section,
    "ranking": ranking_section,
    "effort": effort_section,
    "audit": audit_section,
    "evaluation": evaluation_section,
    "reproduction": reproduction_section,
}
"""Kind of result to its section."""


def make_section(result: Mapping[str, Any]) -> Section:
    """The section of one saved result."""
    kind = result.get("kind")
    if kind not in SECTIONS:
        raise InputError(
            f"a result of kind '{kind}' cannot be reported; known kinds are {', '.join(SECTIONS)}"
        )
    try:
        return SECTIONS[str(kind)](result)
    except InputError:
        raise
    except (KeyError, TypeError, IndexError, ValueError) as error:
        # A file that was cut or edited; what a command writes is complete.
        raise InputError(
            f"the saved result of kind '{kind}' is not complete ({type(error).__name__}: {error});"
            " write it again with --json"
        ) from None
