"""AUDIT: a finished campaign under the loupe."""

from assay.audit.judgments import audit_judgments
from assay.audit.ratings import audit_ratings
from assay.audit.results import (
    Audit,
    AuditedPair,
    AuditedSystem,
    Claim,
    Coverage,
    Matching,
    Power,
    Raters,
    Representation,
    Verdicts,
)

__all__ = [
    "Audit",
    "AuditedPair",
    "AuditedSystem",
    "Claim",
    "Coverage",
    "Matching",
    "Power",
    "Raters",
    "Representation",
    "Verdicts",
    "audit_judgments",
    "audit_ratings",
]
