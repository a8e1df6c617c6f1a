"""What every result has in common: its settings, a signature, and a plain form.

A *signature* is one short line that says how a number came about, so that two papers which print
it can be compared: ``segments|n:142/710|mean|t:.95|seed:7|v:0.1.0``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

from assay._version import __version__

__all__ = ["plain", "result_dict", "signature"]


def signature(*parts: object, **named: object) -> str:
    """Join the parts of a signature; named parts that are None are left out.

    >>> signature("segments", n="142/710", seed=7, cap=None)
    'segments|n:142/710|seed:7|v:...'
    """
    words = [str(part) for part in parts]
    words += [f"{name}:{value}" for name, value in named.items() if value is not None]
    return "|".join([*words, f"v:{__version__}"])


def plain(value: object) -> object:
    """The JSON form of a value: dataclasses and arrays become dicts and lists, NaN becomes None.

    >>> plain({"a": np.array([1.0, float("nan")])})
    {'a': [1.0, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def result_dict(kind: str, sign: str, **content: object) -> dict[str, object]:
    """The JSON object of one result: its kind, version and signature first."""
    return {"kind": kind, "version": __version__, "signature": sign} | {
        name: plain(value) for name, value in content.items()
    }
