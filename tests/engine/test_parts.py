"""Cells without their big parts: each part is sent once, and put back where it was."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("cloudpickle", reason="SKIPPED: pip install 'mt-assay[cluster]'")
from assay.engine import MIN_SHARED, Packer, unpack


class Sent:
    """What stands for a part that was sent."""

    def __init__(self, content: bytes) -> None:
        self.content = content


class Wire:
    """Counts what is sent."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def send(self, name: str, content: bytes) -> Sent:
        self.names.append(name)
        return Sent(content)


def restore(packed: bytes, parts: dict[str, Sent]) -> Any:
    import pickle

    return unpack(packed, {name: pickle.loads(sent.content) for name, sent in parts.items()})


def test_what_cells_share_is_sent_once() -> None:
    wire = Wire()
    packer = Packer(wire.send)
    frame = pl.DataFrame({"text": [f"row {i}" for i in range(MIN_SHARED)]})
    scores = np.arange(MIN_SHARED, dtype=float)
    packed = [packer.pack((cell, frame, scores, np.arange(3))) for cell in range(5)]
    assert len(wire.names) == 2
    assert max(len(content) for content, _ in packed) < 1000
    cell, same_frame, same_scores, small = restore(*packed[4])
    assert cell == 4
    assert same_frame.equals(frame)
    assert np.array_equal(same_scores, scores)
    assert np.array_equal(small, np.arange(3))


def test_equal_arrays_are_one_part() -> None:
    wire = Wire()
    packer = Packer(wire.send)
    arrays = [np.zeros(MIN_SHARED) for _ in range(3)]
    for array in arrays:
        packer.pack(array)
    assert len(wire.names) == 1


def test_a_part_that_is_gone_is_forgotten_and_sent_anew() -> None:
    wire = Wire()
    packer = Packer(wire.send)
    for _ in range(3):
        array = np.ones(MIN_SHARED)
        _, parts = packer.pack(array)
        del array, parts
        gc.collect()
    assert len(wire.names) == 3
    assert len(set(wire.names)) == 1


def test_functions_made_on_the_spot_and_their_big_values_travel() -> None:
    wire = Wire()
    table = np.arange(MIN_SHARED, dtype=float)
    packed, parts = Packer(wire.send).pack(lambda row: table[row])
    assert len(parts) == 1
    assert restore(packed, parts)(7) == 7.0
