"""Ratings without a sample: everything is rated, or the user states how the rated were chosen."""

from __future__ import annotations

from assay.designs.base import SamplingDesign
from assay.designs.documents import DocumentDesign


class Census(SamplingDesign, name="census"):
    """Every segment is rated."""

    sentence = "rating every segment"
    drawable = False
    everything = True

    simple = True


class AssumedRandom(SamplingDesign, name="assumed-random"):
    """The rated segments are taken to be a simple random sample."""

    sentence = "a choice that is taken to be a simple random sample"
    drawable = False

    simple = True


class AssumedDocuments(DocumentDesign, name="assumed-documents"):
    """The rated documents are taken to be a simple random sample."""

    sentence = "a choice of documents that is taken to be random"
    drawable = False


ASSUMPTIONS = {
    "random": (AssumedRandom("assumed-random"), "the rated segments"),
    "documents": (AssumedDocuments("assumed-documents"), "the rated documents"),
}
"""What may be assumed about ratings without a sample, and about which units."""
