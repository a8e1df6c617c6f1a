"""REPORT: readable pages from saved results. Computes nothing."""

from assay.report.page import read_result, write_parts, write_report

__all__ = ["read_result", "write_parts", "write_report"]
