"""Latin, Williams and Graeco-Latin squares, as matrices of numbers from 0."""

from __future__ import annotations

from itertools import chain, islice, permutations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]


def cyclic_square(n: int) -> Ints:
    """Row e, column p: (e + p) mod n."""
    return np.add.outer(np.arange(n), np.arange(n)) % n


def permutation_rows(n: int, rows: int) -> Ints:
    """The first ``rows`` of all n! orders, so arranged that every n of them are a Latin square."""
    starts = ((0, *rest) for rest in permutations(range(1, n)))
    orders = chain.from_iterable(((np.array(s) + k) % n for k in range(n)) for s in starts)
    return np.array(list(islice(orders, rows)))


def williams_rows(n: int) -> Ints:
    """Rows in which every number follows every other equally often (Williams 1949).

    n rows for even n; for odd n the n rows and the same backwards.
    """
    low, high = 0, n - 1
    first = []
    for place in range(n):
        if place % 2 == 0:
            first.append(low)
            low += 1
        else:
            first.append(high)
            high -= 1
    rows = (np.array(first) + np.arange(n)[:, None]) % n
    return rows if n % 2 == 0 else np.vstack([rows, rows[:, ::-1]])


def graeco_latin(n: int) -> tuple[Ints, Ints] | None:
    """Two Latin squares in which every pair of numbers meets once; None where there are none.

    There are none for 2 (obviously) and 6 (Tarry 1900). Odd n by arithmetic mod n, powers of two
    in their field, 12 as 3 x 4, and 10 by Bose, Shrikhande and Parker (1960).
    """
    if n in (2, 6):
        return None
    if n % 2:
        e, p = np.arange(n)[:, None], np.arange(n)
        return (e + p) % n, (e + 2 * p) % n
    if n in (4, 8):
        return _field_squares(n)
    if n == 12:
        threes, fours = graeco_latin(3), graeco_latin(4)
        assert threes is not None
        assert fours is not None
        return _product(threes[0], fours[0]), _product(threes[1], fours[1])
    return _bose_shrikhande_parker(3) if n == 10 else None


def _field_squares(n: int) -> tuple[Ints, Ints]:
    """The sums e + k p in the field of n = 4 or 8 elements, for k = 1 and k = x."""
    e, p = np.arange(n)[:, None], np.arange(n)
    doubled = p << 1
    # x^2 = x + 1 in the field of four, x^3 = x + 1 in that of eight: both take off n and add 3
    doubled = np.where(doubled >= n, doubled ^ n ^ 3, doubled)
    return e ^ p, e ^ doubled


def _product(left: Ints, right: Ints) -> Ints:
    size = len(right)
    return np.kron(left * size, np.ones_like(right)) + np.tile(right, (len(left), len(left)))


def _bose_shrikhande_parker(m: int) -> tuple[Ints, Ints]:
    """Squares of order 3 m + 1 from those of order m: numbers mod 2 m + 1 and m further ones."""
    modulus = 2 * m + 1
    columns = []
    extra = np.arange(modulus, modulus + m)
    for i in range(modulus):
        a = np.full(m, i)
        b, c = (i + np.arange(1, m + 1)) % modulus, (i - np.arange(1, m + 1)) % modulus
        blocks = [(a, b, c, extra), (b, a, extra, c), (c, extra, a, b), (extra, c, b, a)]
        columns += [np.array(block) for block in blocks]
        columns.append(np.full((4, 1), i))
    inner = graeco_latin(m)
    assert inner is not None
    rows, places = np.divmod(np.arange(m * m), m)
    columns.append(modulus + np.array([rows, places, inner[0].ravel(), inner[1].ravel()]))
    row, place, first, second = np.hstack(columns)
    n = 3 * m + 1
    squares = np.zeros((2, n, n), dtype=np.intp)
    squares[0, row, place], squares[1, row, place] = first, second
    return squares[0], squares[1]
