"""KITS: homogeneous pieces of text, what editors get, and how much effort they spent."""

from assay.kits.find import find_kits
from assay.kits.kitset import Kit, KitSet
from assay.kits.pieces import Piece, Pieces, pieces_from_features, read_pieces

__all__ = [
    "Kit",
    "KitSet",
    "Piece",
    "Pieces",
    "find_kits",
    "pieces_from_features",
    "read_pieces",
]
