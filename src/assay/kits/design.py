"""Decide who edits which document from which system, and in which order.

Every editor gets every document once, each from a different system. ``permutations`` uses all
orders of the systems (korotaev2022); ``latin`` needs only as many editors as systems; with
``williams`` every system also follows every other equally often; ``graeco-latin`` rotates the order
of documents too, so that fatigue and document can be told apart. ``rotated`` is Williams' design
repeated with the documents in every rotation: everything is balanced, with more editors.
``identical`` gives every editor the same kit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice, permutations
from math import factorial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.errors import InputError, OptionError, did_you_mean, need_count
from assay.kits.results import Balance, KitDesign, KitDocument
from assay.results import Note
from assay.stats.random import Rng, seeded

Ints = NDArray[np.intp]
DESIGNS = ("permutations", "latin", "williams", "graeco-latin", "rotated", "identical")
MOST_SYSTEMS = 12
EXCHANGES = 1000
"""The number of exchanges of turns to try if a block is not complete."""


def design_kits(
    systems: Sequence[str],
    editors: int | Sequence[str],
    *,
    design: str = "auto",
    documents: Sequence[str] | None = None,
    rng: Rng = None,
) -> KitDesign:
    """Deal documents and systems to editors.

    systems: MT engines, possibly with the human translation. editors: a number or names.
    documents: as many names as systems. design: auto is graeco-latin if one exists, else rotated (2
    and 6 systems). The places of systems, documents and editors in the design are random.

    >>> result = design_kits(["A", "B", "C"], 6, design="williams", rng=1)
    >>> result.balance.system_document
    ((2, 2, 2), (2, 2, 2), (2, 2, 2))
    >>> result.balance.carry_over
    ((0, 2, 2), (2, 0, 2), (2, 2, 0))
    """
    names = _system_names(systems)
    n = len(names)
    people = _editor_names(editors)
    texts = _document_names(documents, n)
    kind = _kind(design, n)
    generator, seed = seeded(rng)
    block = _block(kind, n)
    system, document = _rows(kind, n, len(people), generator)
    # Labels are assigned at random, as the randomisation test of the analysis requires.
    order = generator.permutation(len(people))
    system, document = generator.permutation(n)[system[order]], document[order]
    if kind in ("graeco-latin", "rotated"):
        document = generator.permutation(n)[document]
    kits = tuple(
        KitDocument(person, place + 1, texts[document[row, place]], names[system[row, place]])
        for row, person in enumerate(people)
        for place in range(n)
    )
    balance = _balance(system, document, n)
    rotated = bool(np.ptp(document, 0).any())
    notes = tuple(_notes(kind, n, len(people), block, balance, rotated=rotated))
    return KitDesign(kits, names, texts, people, kind, block, balance, seed, notes)


def _system_names(systems: Sequence[str]) -> tuple[str, ...]:
    names = tuple(systems)
    if not 2 <= len(names) <= MOST_SYSTEMS:
        raise OptionError(
            "systems", len(names), "are too few or too many", f"name 2 to {MOST_SYSTEMS}"
        )
    _refuse_repeated("systems", names)
    return names


def _refuse_repeated(argument: str, names: Sequence[str]) -> None:
    for name in names:
        if not name.strip():
            raise OptionError(argument, repr(name), "is not a name", "give each a name")
        if list(names).count(name) > 1:
            raise OptionError(argument, name, "is named twice", "name each once")


def _editor_names(editors: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(editors, int):
        need_count("editors", editors, "editors", most=100_000)
        digits = max(2, len(str(editors)))
        return tuple(f"editor-{number + 1:0{digits}d}" for number in range(editors))
    people = tuple(editors)
    if not people:
        raise OptionError("editors", "", "names nobody", "give names or a number")
    _refuse_repeated("editors", people)
    return people


def _document_names(documents: Sequence[str] | None, systems: int) -> tuple[str, ...]:
    if documents is None:
        return tuple(f"doc-{number + 1}" for number in range(systems))
    names = tuple(documents)
    if len(names) != systems:
        raise OptionError(
            "documents", len(names), f"do not match {systems} systems",
            "give as many documents as systems: every kit has each document and system once",
        )  # fmt: skip
    _refuse_repeated("documents", names)
    return names


def _kind(design: str, n: int) -> str:
    if design == "auto":
        return "rotated" if graeco_latin(n) is None else "graeco-latin"
    if design not in DESIGNS:
        raise OptionError(
            "design", design, f"is not known{did_you_mean(design, DESIGNS)}",
            f"choose from {', '.join(DESIGNS)}",
        )  # fmt: skip
    if design == "graeco-latin" and graeco_latin(n) is None:
        raise OptionError(
            "design", design,
            f"does not exist for {n} systems: no two Latin squares of order {n} are orthogonal",
            f"use rotated, or {n - 1 if n > 2 else 3} or {n + 1 if n > 2 else 4} systems",
        )  # fmt: skip
    return design


def _block(kind: str, n: int) -> int:
    if kind == "permutations":
        return factorial(n)
    if kind in ("williams", "rotated"):
        return (n if n % 2 == 0 else 2 * n) * (n if kind == "rotated" else 1)
    return 1 if kind == "identical" else n


def _rows(kind: str, n: int, editors: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The system and the document of every editor (row) and position (column)."""
    fixed = np.tile(np.arange(n), (editors, 1))
    if kind == "identical":
        return fixed, fixed
    if kind == "graeco-latin":
        squares = graeco_latin(n)
        assert squares is not None
        which = np.arange(editors) % n
        return squares[0][which], squares[1][which]
    if kind == "rotated":
        rows = williams_rows(n)
        system, turn = rows[np.arange(editors) % len(rows)], np.arange(editors) // len(rows)
        whole = editors - editors % (len(rows) * n)
        # With two systems, other turns would confound system and document.
        if n > 2 and whole < editors:
            turn[whole:] = _turns(system[whole:], rng)
        return system, (fixed + turn[:, None]) % n
    if kind == "permutations":
        rows = permutation_rows(n, min(editors, factorial(n)))
    else:
        rows = cyclic_square(n) if kind == "latin" else williams_rows(n)
    return rows[np.arange(editors) % len(rows)], fixed


def _turns(system: Ints, rng: np.random.Generator) -> Ints:
    """The rotation of each editor's documents if a block is not complete.

    All rotations occur equally often, so that documents and positions can be separated; editors
    exchange rotations as long as systems and documents meet more evenly.
    """
    editors, n = system.shape

    def uneven(turn: Ints) -> int:
        return int(np.sum(_counts(system, (np.arange(n) + turn[:, None]) % n, n) ** 2))

    best = rng.permutation(np.arange(editors) % n)
    least = uneven(best)
    for pair in rng.integers(editors, size=(EXCHANGES, 2)):
        turn = best.copy()
        turn[pair] = turn[pair[::-1]]
        now = uneven(turn)
        if now <= least:
            best, least = turn, now
    return best


def _balance(system: Ints, document: Ints, n: int) -> Balance:
    place = np.tile(np.arange(n), (len(system), 1))
    tables = {
        "system_document": _counts(system, document, n),
        "system_position": _counts(system, place, n),
        "document_position": _counts(document, place, n),
        "carry_over": _counts(system[:, :-1], system[:, 1:], n),
    }
    off = ~np.eye(n, dtype=bool)
    balanced = tuple(
        name
        for name, table in tables.items()
        if len(set((table[off] if name == "carry_over" else table.ravel()).tolist())) == 1
    )
    rows = {name: tuple(tuple(row) for row in table.tolist()) for name, table in tables.items()}
    return Balance(**rows, balanced=balanced)


def _counts(left: Ints, right: Ints, n: int) -> Ints:
    table = np.zeros((n, n), dtype=np.intp)
    np.add.at(table, (left.ravel(), right.ravel()), 1)
    return table


def _notes(
    kind: str, n: int, editors: int, block: int, balance: Balance, *, rotated: bool
) -> list[Note]:
    """Note what is not balanced; ``rotated``: the order of documents varies."""
    notes = []
    goals = {"williams": "carry_over", "rotated": "document_position"}
    goal = goals.get(kind, "system_document")
    if kind == "identical":
        notes.append(Note(
            "identical-kits",
            "every editor has the same kit: systems can be compared only if the documents are"
            " alike, which the data cannot show",
        ))  # fmt: skip
    elif not {goal, "system_document"} <= set(balance.balanced):
        step = n if kind == "permutations" else block
        complete = -(-editors // step) * step
        notes.append(Note(
            "incomplete", f"{editors} editors do not complete the design; {complete} would"
        ))  # fmt: skip
    if "document_position" not in balance.balanced:
        text = (
            "the order of documents is not quite balanced" if rotated
            else "the order of documents is the same for all, so position and document cannot be"
                 " separated"
        )  # fmt: skip
        notes.append(Note("position-unbalanced" if rotated else "position-is-document", text))
    if editors < 3:
        notes.append(
            Note("too-few-editors", "with fewer than three editors no difference can be tested")
        )
    return notes


def read_design(frame: pl.DataFrame) -> tuple[KitDocument, ...]:
    """Read the kits from a design table; check that each editor has each document once."""
    columns = ("editor", "position", "doc", "system")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"the design lacks {', '.join(missing)}; make one with assay kits design")
    kits = []
    seen: set[tuple[str, str]] = set()
    for line, row in enumerate(frame.iter_rows(named=True), start=1):
        editor, doc, system = (str(row[name] or "").strip() for name in ("editor", "doc", "system"))
        place = str(row["position"])
        if not (editor and doc and system):
            raise InputError(f"row {line} of the design is not filled in; make the design again")
        if not re.fullmatch("[0-9]{1,9}", place):
            fault = "has no position like 1, 2 or 3"
            raise InputError(f"row {line} of the design {fault}; make the design again")
        if (editor, doc) in seen:
            raise InputError(
                f"the design gives '{doc}' to {editor} twice (row {line}); give it once"
            )
        seen.add((editor, doc))
        kits.append(KitDocument(editor, int(place), doc, system))
    return tuple(sorted(kits, key=lambda item: (item.editor, item.position)))


def cyclic_square(n: int) -> Ints:
    """Row e, column p: (e + p) mod n."""
    return np.add.outer(np.arange(n), np.arange(n)) % n


def permutation_rows(n: int, rows: int) -> Ints:
    """The first ``rows`` of all n! orders, arranged so that every n of them are a Latin square."""
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
    """Two orthogonal Latin squares: every pair of numbers meets once. None if they do not exist.

    They do not exist for 2 (obviously) and 6 (Tarry 1900). Odd n use arithmetic mod n, powers of
    two their field, 12 is 3 x 4, and 10 is by Bose, Shrikhande and Parker (1960).
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
    """Squares of order 3 m + 1 from those of order m: numbers mod 2 m + 1, and m further ones."""
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
