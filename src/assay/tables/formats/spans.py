"""Span offsets: from UTF-16 units, which browsers count, to code points, which Assay counts.

A character beyond U+FFFF (most emoji) is one code point and two UTF-16 units.
"""

from __future__ import annotations


def code_points(text: str, *, skip: str = "") -> list[int]:
    r"""For every UTF-16 unit of the text, the code point it belongs to.

    Characters in ``skip`` are passed over: some editors do not count line breaks.

    >>> code_points("a😀b"), code_points("a\nb", skip="\n")
    ([0, 1, 1, 2], [0, 2])
    """
    return [
        position
        for position, sign in enumerate(text)
        if sign not in skip
        for _ in range(2 if sign > "\uffff" else 1)
    ]


def from_inclusive(units: list[int], first: int, last: int) -> tuple[int, int] | None:
    """Half-open code points of the UTF-16 units ``first`` to ``last``, both included.

    ``units`` is what :func:`code_points` gives; None where the span is not inside the text.

    >>> from_inclusive(code_points("a😀b"), 1, 2)
    (1, 2)
    """
    if not 0 <= first <= last < len(units):
        return None
    return units[first], units[last] + 1


def from_utf16(text: str, offset: int) -> int | None:
    """The code-point offset of a UTF-16 offset; None outside the text or inside a character.

    >>> from_utf16("a😀b", 3), from_utf16("a😀b", 2)
    (2, None)
    """
    units = [*code_points(text), len(text)]
    if not 0 <= offset < len(units) or (offset and units[offset] == units[offset - 1]):
        return None
    return units[offset]


def to_utf16(text: str, offset: int) -> int:
    """The UTF-16 offset of a code-point offset.

    >>> to_utf16("a😀b", 2)
    3
    """
    return len(code_points(text[:offset]))
