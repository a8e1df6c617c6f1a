"""Who edits which document from which engine, and in which order.

Every editor gets every document once, each from another engine. ``permutations`` are all orders of
the engines (korotaev2022), ``latin`` needs as many editors as engines, ``williams`` also lets every
engine follow every other equally often, and ``graeco-latin`` rotates the documents' order too, so
that tiredness and document can be told apart. ``rotated`` is Williams' design repeated with the
documents in every rotation: all is balanced, with more editors. ``identical`` gives everybody the
same kit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.errors import InputError, OptionError, did_you_mean
from assay.kits.squares import cyclic_square, graeco_latin, permutation_rows, williams_rows
from assay.results import result_dict, signature
from assay.stats.random import Rng, seeded

Ints = NDArray[np.intp]
DESIGNS = ("permutations", "latin", "williams", "graeco-latin", "rotated", "identical")
MOST_ENGINES = 12
TRIES = 1000
"""Exchanges that are tried where a block is not complete."""


@dataclass(frozen=True, slots=True)
class Task:
    """One document of one editor's kit."""

    editor: str
    position: int
    document: str
    system: str


@dataclass(frozen=True, slots=True)
class Balance:
    """How often things meet; a table is balanced if all its counts are equal."""

    engine_document: tuple[tuple[int, ...], ...]
    """Rows are engines, columns documents."""
    engine_position: tuple[tuple[int, ...], ...]
    document_position: tuple[tuple[int, ...], ...]
    carry_over: tuple[tuple[int, ...], ...]
    """How often the column's engine comes right after the row's."""
    balanced: tuple[str, ...]
    """The names of the tables that are balanced."""


@dataclass(frozen=True, slots=True)
class KitDesign:
    """The kits of all editors, with the counts that prove their balance."""

    tasks: tuple[Task, ...]
    engines: tuple[str, ...]
    documents: tuple[str, ...]
    editors: tuple[str, ...]
    design: str
    block: int
    """How many editors make the design complete; any multiple does too."""
    balance: Balance
    seed: int | None
    notes: tuple[str, ...]
    signature: str

    def to_frame(self) -> pl.DataFrame:
        """A row for each editor and document: ``editor, position, doc, system``."""
        rows = [(task.editor, task.position, task.document, task.system) for task in self.tasks]
        return pl.DataFrame(rows, schema=["editor", "position", "doc", "system"], orient="row")

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay kits design``."""
        return result_dict(
            "kit-design",
            self.signature,
            kits=self.tasks,
            engines=self.engines,
            documents=self.documents,
            editors=self.editors,
            design=self.design,
            block=self.block,
            balance=self.balance,
            seed=self.seed,
            notes=self.notes,
        )


def design_kits(
    engines: Sequence[str],
    editors: int | Sequence[str],
    *,
    design: str = "auto",
    documents: Sequence[str] | None = None,
    rng: Rng = None,
) -> KitDesign:
    """Deal documents and engines to editors.

    ``editors`` is a number or names, ``documents`` has as many names as there are engines.
    ``auto`` is graeco-latin where one exists and rotated elsewhere (2 and 6 engines). Which engine,
    document and editor takes which place in the design is drawn at random.

    >>> result = design_kits(["A", "B", "C"], 6, design="williams", rng=1)
    >>> result.balance.engine_document
    ((2, 2, 2), (2, 2, 2), (2, 2, 2))
    >>> result.balance.carry_over
    ((0, 2, 2), (2, 0, 2), (2, 2, 0))
    """
    names = _engines(engines)
    n = len(names)
    people = _editors(editors)
    texts = _documents(documents, n)
    kind = _kind(design, n)
    generator, seed = seeded(rng)
    block = _block(kind, n)
    engine, document = _rows(kind, n, len(people), generator)
    # Labels are dealt at random: the randomisation test of the analysis rests on it.
    order = generator.permutation(len(people))
    engine, document = generator.permutation(n)[engine[order]], document[order]
    if kind in ("graeco-latin", "rotated"):
        document = generator.permutation(n)[document]
    tasks = tuple(
        Task(person, place + 1, texts[document[row, place]], names[engine[row, place]])
        for row, person in enumerate(people)
        for place in range(n)
    )
    balance = _balance(engine, document, n)
    return KitDesign(
        tasks=tasks,
        engines=names,
        documents=texts,
        editors=people,
        design=kind,
        block=block,
        balance=balance,
        seed=seed,
        notes=tuple(_notes(kind, n, len(people), block, balance, bool(np.ptp(document, 0).any()))),
        signature=signature("kits", kind, engines=n, editors=len(people), seed=seed),
    )


def _engines(engines: Sequence[str]) -> tuple[str, ...]:
    names = tuple(engines)
    if not 2 <= len(names) <= MOST_ENGINES:
        raise OptionError(
            "engines", len(names), "are too few or too many", f"name 2 to {MOST_ENGINES}"
        )
    _refuse_repeated("engines", names)
    return names


def _refuse_repeated(argument: str, names: Sequence[str]) -> None:
    for name in names:
        if not name.strip():
            raise OptionError(argument, repr(name), "is no name", "give every one a name")
        if list(names).count(name) > 1:
            raise OptionError(argument, name, "is named twice", "name each once")


def _editors(editors: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(editors, int):
        if isinstance(editors, bool) or not 1 <= editors <= 100_000:
            raise OptionError("editors", editors, "is no number of editors", "give 1 or more")
        digits = max(2, len(str(editors)))
        return tuple(f"editor-{number + 1:0{digits}d}" for number in range(editors))
    people = tuple(editors)
    if not people:
        raise OptionError("editors", "", "names nobody", "give names or a number")
    _refuse_repeated("editors", people)
    return people


def _documents(documents: Sequence[str] | None, engines: int) -> tuple[str, ...]:
    if documents is None:
        return tuple(f"doc-{number + 1}" for number in range(engines))
    names = tuple(documents)
    if len(names) != engines:
        raise OptionError(
            "documents",
            len(names),
            f"do not go with {engines} engines",
            "give as many documents as engines: every kit has each document and engine once",
        )
    _refuse_repeated("documents", names)
    return names


def _kind(design: str, n: int) -> str:
    if design == "auto":
        return "rotated" if graeco_latin(n) is None else "graeco-latin"
    if design not in DESIGNS:
        raise OptionError(
            "design",
            design,
            f"is not known{did_you_mean(design, DESIGNS)}",
            f"choose from {', '.join(DESIGNS)}",
        )
    if design == "graeco-latin" and graeco_latin(n) is None:
        raise OptionError(
            "design",
            design,
            f"does not exist for {n} engines: no two Latin squares of order {n} are orthogonal",
            f"use rotated, or {n - 1 if n > 2 else 3} or {n + 1 if n > 2 else 4} engines",
        )
    return design


def _block(kind: str, n: int) -> int:
    if kind == "permutations":
        return factorial(n)
    if kind in ("williams", "rotated"):
        return (n if n % 2 == 0 else 2 * n) * (n if kind == "rotated" else 1)
    return 1 if kind == "identical" else n


def _rows(kind: str, n: int, editors: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Engine and document of every editor (row) and position (column)."""
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
        engine, turn = rows[np.arange(editors) % len(rows)], np.arange(editors) // len(rows)
        whole = editors - editors % (len(rows) * n)
        # With two engines, other turns would tie engine to document.
        if n > 2 and whole < editors:
            turn[whole:] = _turns(engine[whole:], rng)
        return engine, (fixed + turn[:, None]) % n
    if kind == "permutations":
        rows = permutation_rows(n, min(editors, factorial(n)))
    else:
        rows = cyclic_square(n) if kind == "latin" else williams_rows(n)
    return rows[np.arange(editors) % len(rows)], fixed


def _turns(engine: Ints, rng: np.random.Generator) -> Ints:
    """By how much to turn each editor's documents where a block is not complete.

    All turns equally often, so that documents and positions can be told apart; editors exchange
    turns as long as engine and document meet more evenly for it.
    """
    editors, n = engine.shape

    def uneven(turn: Ints) -> int:
        return int(np.sum(_counts(engine, (np.arange(n) + turn[:, None]) % n, n) ** 2))

    best = rng.permutation(np.arange(editors) % n)
    least = uneven(best)
    for pair in rng.integers(editors, size=(TRIES, 2)):
        turn = best.copy()
        turn[pair] = turn[pair[::-1]]
        found = uneven(turn)
        if found <= least:
            best, least = turn, found
    return best


def _balance(engine: Ints, document: Ints, n: int) -> Balance:
    place = np.tile(np.arange(n), (len(engine), 1))
    tables = {
        "engine_document": _counts(engine, document, n),
        "engine_position": _counts(engine, place, n),
        "document_position": _counts(document, place, n),
        "carry_over": _counts(engine[:, :-1], engine[:, 1:], n),
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
    kind: str, n: int, editors: int, block: int, balance: Balance, turned: bool
) -> list[str]:
    """What is not balanced; ``turned``: the documents' order is not the same for all."""
    found = []
    goals = {"williams": "carry_over", "rotated": "document_position"}
    goal = goals.get(kind, "engine_document")
    if kind == "identical":
        found.append(
            "every editor has the same kit: engines can be compared only if the documents are"
            " alike, which the data cannot show"
        )
    elif not {goal, "engine_document"} <= set(balance.balanced):
        step = n if kind == "permutations" else block
        found.append(
            f"{editors} editors do not complete the design; {-(-editors // step) * step} would"
        )
    if "document_position" not in balance.balanced:
        found.append(
            "the documents' order is the same for all, so that position and document cannot be"
            " told apart"
            if not turned
            else "the documents' order is not quite balanced"
        )
    if editors < 3:
        found.append("with fewer than three editors no difference can be tested")
    return found


def read_design(frame: pl.DataFrame) -> tuple[Task, ...]:
    """The tasks of a design table, checked: one engine for each editor and document."""
    need = ("editor", "position", "doc", "system")
    missing = [name for name in need if name not in frame.columns]
    if missing:
        raise InputError(f"the design lacks {', '.join(missing)}; make one with assay kits design")
    tasks = []
    seen: set[tuple[str, str]] = set()
    for line, row in enumerate(frame.iter_rows(named=True), start=1):
        editor, doc, system = (str(row[name] or "").strip() for name in ("editor", "doc", "system"))
        place = str(row["position"])
        if not (editor and doc and system and place.isdigit()):
            raise InputError(f"the design's row {line} is not filled in; make it anew")
        if (editor, doc) in seen:
            raise InputError(
                f"the design gives '{doc}' to {editor} twice (row {line}); give it once"
            )
        seen.add((editor, doc))
        tasks.append(Task(editor, int(place), doc, system))
    return tuple(sorted(tasks, key=lambda task: (task.editor, task.position)))
