"""Returned sheets, checked against the key and joined into ratings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from assay.collecting.results import CollectedSheets
from assay.collecting.sheets import CONTEXT, MAKERS, read_tasks
from assay.errors import InputError, OptionError, did_you_mean, need_known
from assay.kits.collect import listed, short
from assay.results import CONTROLS, Note, has_note, plural
from assay.tables.load import (
    Findings,
    Raw,
    Source,
    load,
    refuse,
    refuse_infinite,
    to_number,
    to_text,
)
from assay.tables.tables import Better, Ratings, check_direction, read_ratings
from assay.tables.typed_files import save

KEY_COLUMNS = (
    "rater", "file", "code", "task", "place", "reason", "check", "lp", "doc", "seg", "system",
    "source", "output", "low", "high",
)  # fmt: skip
READ = ("code", "source", "output", "score")
"""The columns of a sheet that are checked against the key."""
MIN_SORTED, MIN_DIFFERENT = 10, 5
"""Scores, and distinct ones among them, that are never in order by chance."""


def collect_sheets(
    key: Source,
    files: Iterable[str | os.PathLike[str]],
    *,
    earlier: Iterable[str | os.PathLike[str]] = (),
    better: Better = "higher",
    format: str | None = None,
) -> Ratings:
    """Join returned sheets with the key into a table of ratings.

    ``key`` is the file that :func:`assay.write_sheets` wrote, or its frame. Each sheet must have
    every row once, with the texts of the key, in any order. An empty score means that the output
    was not rated; rows after the last score of a sheet are not done yet and left out. ``earlier``
    are files that came back before, newest first: scores in ``files`` override theirs, and no score
    is lost if a rater sends only the rest of a sheet. ``better`` says which end of the scale is
    good. Faults are reported for all files together, with file, line and remedy. The notes say
    whose sheet is missing and what looks odd. With ``format`` (pearmut, appraise, label-studio) the
    files are exports of that tool, each with any number of raters.

    >>> import assay, pathlib, polars as pl, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = [(s, "1", "Guten Tag", f"Good day {s}") for s in "xy"]
    >>> names = ["system", "seg", "source", "target"]
    >>> texts = assay.read_scores(pl.DataFrame(rows, schema=names, orient="row"))
    >>> plan = assay.assign(texts, ["Ada"], overlap=0, rng=1)
    >>> written = assay.write_sheets(texts, plan, folder / "sheets", format="csv")
    >>> sheet = pl.read_csv(written.files[0]).with_columns(score=pl.lit(80))
    >>> sheet.write_csv(folder / "Ada.csv")
    >>> ratings = assay.collect_sheets(written.key, [folder / "Ada.csv"])
    >>> ratings.frame.select("system", "seg", "rater", "score").sort("system").rows()
    [('x', '1', 'Ada', 80.0), ('y', '1', 'Ada', 80.0)]
    """
    check_direction(better)
    if isinstance(files, str | os.PathLike):
        raise OptionError("files", files, "is one path", "give a list of paths")
    if format is not None:
        need_known("format", format, list(MAKERS))
    keys = _keys(key)
    paths, older = [Path(path) for path in files], [Path(path) for path in earlier]
    if not paths and not older:
        raise InputError("no file was given; name the files that raters returned")
    if format is None:
        tables, given, notes = _sheets(paths, older, keys)
    else:
        tables, given = _tasks(paths, older, format, keys)
        notes = []
    (low, high), *_ = keys[next(iter(keys))].select("low", "high").iter_rows()
    rows = pl.concat(tables).drop("file", "code", "place", "source", "output", "low", "high")
    unused = [name for name in ("lp", "doc", "check") if rows[name].null_count() == rows.height]
    ratings = read_ratings(rows.drop(unused), better=better, range=(low, high))
    notes += [*ratings.notes, *_absent(keys, given)]
    return Ratings(ratings.frame, tuple(notes), better, (low, high), None, ratings.repeats)


def _sheets(
    paths: Sequence[Path], older: Sequence[Path], keys: Mapping[str, pl.DataFrame]
) -> tuple[list[pl.DataFrame], dict[str, Path], list[Note]]:
    """Every rater's newest sheet, completed with scores from earlier ones."""
    found: dict[str, pl.DataFrame] = {}
    given: dict[str, Path] = {}
    notes, faults = list[Note](), list[InputError]()
    for path in (*paths, *older):
        try:
            rater, table, more = _collect(path, keys, {} if path in older else given)
        except InputError as error:
            faults.append(error)
            continue
        if rater in given:
            found[rater], more = _with_earlier(found[rater], table, given[rater], path)
        else:
            found[rater], given[rater] = table, path
        notes += more
    _stop(faults)
    tables = []
    for rater, rows in found.items():
        reached = _reached(rows)
        if 0 < reached < rows.height:
            waiting = plural(rows.height - reached, "output")
            text = f"{given[rater].name}: {waiting} after the last score, not counted yet"
            notes.append(Note("not-reached", text))
        tables.append(rows.head(reached or rows.height))
    return tables, given, notes


def _with_earlier(
    newer: pl.DataFrame, older: pl.DataFrame, path: Path, before: Path
) -> tuple[pl.DataFrame, list[Note]]:
    """Complete a sheet with scores that only an earlier one of the same rater has."""
    was = older["score"]
    kept = int((newer["score"].is_null() & was.is_not_null()).sum())
    changed = int((newer["score"] != was).fill_null(False).sum())
    said = [f"{plural(kept, 'score')} missing in it kept"] if kept else []
    said += [f"{plural(changed, 'score')} changed since"] if changed else []
    notes = [Note("earlier-sheet", f"{path} comes after {before}: {', '.join(said)}")]
    rows = newer.with_columns(
        score=newer["score"].fill_null(was), comment=newer["comment"].fill_null(older["comment"])
    )
    return rows, notes if said else []


def _tasks(
    paths: Sequence[Path], older: Sequence[Path], tool: str, keys: Mapping[str, pl.DataFrame]
) -> tuple[list[pl.DataFrame], dict[str, Path]]:
    """The answers of a tool's files; newer files override earlier ones."""
    read, faults = list[pl.DataFrame](), list[InputError]()
    for path in (*paths, *older):
        try:
            read.append(_collect_tasks(path, tool, keys))
        except InputError as error:
            faults.append(error)
    _stop(faults)
    rows = pl.concat(read, how="diagonal")
    new = rows["_file"].is_in([str(path) for path in paths])
    twice = rows.filter(new).filter(~rows.filter(new)["code"].is_first_distinct())
    if twice.height:
        raise InputError(
            f"{twice['_file'][0]}: {twice['code'][0]} is already answered in another file; give"
            " every answer once"
        )
    return _by_rater(rows.unique("code", keep="first", maintain_order=True), keys)


def _stop(faults: Sequence[InputError]) -> None:
    """Refuse all faulty files at once."""
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise InputError("\n".join(map(str, faults)))


def write_collected(ratings: Ratings, path: Path) -> CollectedSheets:
    """Write the ratings of :func:`collect_sheets`, repeats included."""
    rows = pl.concat([ratings.frame, ratings.repeats], how="diagonal_relaxed")
    written = save(rows, path)
    return CollectedSheets(rows.height, ratings.unrated, ratings.raters, written, ratings.notes)


def read_key(key: Source) -> pl.DataFrame:
    """Read a key: who rates what, in the order of work.

    Empty columns (``lp``, ``doc``) are left out, except ``check``.

    >>> import assay, tempfile
    >>> world = assay.simulate(documents=6, systems=2, texts=True, rng=1)
    >>> plan = assay.assign(world.test_set, ["Ada", "Ben"], rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = read_key(assay.write_sheets(world.test_set, plan, folder + "/sheets").key)
    >>> rows["rater"].unique(maintain_order=True).to_list()
    ['Ada', 'Ben']
    """
    rows = pl.concat(_keys(key).values())
    return rows.drop([name for name in ("lp", "doc") if rows[name].null_count() == rows.height])


def _keys(key: Source) -> dict[str, pl.DataFrame]:
    """The key's rows by rater."""
    raw = load(key, text=lambda name: True)
    frame, findings = raw.frame, Findings(raw)
    lacking = [name for name in KEY_COLUMNS if name not in frame.columns]
    if lacking:
        raise InputError(
            f"the key lacks {', '.join(lacking)}; give the key that was written with the sheets"
        )
    blank = ("check", "lp", "doc")
    words = [to_text(frame[name]) for name in KEY_COLUMNS if name not in ("low", "high")]
    words = [
        value.replace("", None) if value.name in blank else value.fill_null("") for value in words
    ]
    limits = [to_number(frame[name], findings, name) for name in ("low", "high")]
    for limit in limits:
        refuse_infinite(limit, limit.name, findings)
    wrong = ~(limits[0] < limits[1]).fill_null(False)
    message = "is not below high; give the key as it was written"
    findings.rows(wrong, "low", to_text(frame["low"]), message)
    findings.stop()
    if not frame.height:
        raise InputError("the key has no rows; give the key as it was written")
    frame = pl.DataFrame([*words, *limits])
    if frame["code"].n_unique() < frame.height:
        raise InputError("the key names an output twice; give the key as it was written")
    return {
        str(part["rater"][0]): part for part in frame.partition_by("rater", maintain_order=True)
    }


def _collect(
    path: Path, keys: Mapping[str, pl.DataFrame], given: Mapping[str, Path]
) -> tuple[str, pl.DataFrame, list[Note]]:
    """The rater of a sheet, its rows in the order of the key, and notes on what looks odd."""
    raw = _load_sheet(path)
    findings = Findings(raw)
    sent = pl.DataFrame([
        *(to_text(raw.frame[name]).fill_null("").alias(name) for name in READ[:3]),
        to_number(raw.frame["score"], findings, "score").alias("score"),
        _comments(raw),
    ])  # fmt: skip
    sent = sent.with_columns(pl.col("code").str.strip_chars())
    filled = to_text(raw.frame["score"]).fill_null("").str.strip_chars() != ""
    unrated = sent["code"].is_in([CONTEXT, ""])
    rater = _owner(path, sent.filter(~unrated)["code"], keys)
    if rater in given:
        raise InputError(
            f"{path}: another sheet of {rater} was given ({given[rater]}); give one sheet per"
            " rater, the complete one"
        )
    own = keys[rater]
    _need_rows(sent, unrated, filled, own, keys, findings)
    low, high = own["low"][0], own["high"][0]
    outside = (sent["score"] < low) | (sent["score"] > high) | ~sent["score"].is_finite()
    findings.rows(
        outside & ~unrated, "score", to_text(sent["score"]),
        f"{{}} is outside the scale, {low:g} to {high:g}; ask the rater, or empty the cell",
    )  # fmt: skip
    findings.stop()
    rows = own.join(
        sent.select("code", "score", "comment"), on="code", how="left", maintain_order="left"
    )
    return rater, rows, _odd(path, rater, rows, sent.filter(~unrated)["code"], findings)


def _collect_tasks(path: Path, tool: str, keys: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Read codes and scores of a tool's file; codes that are not in the key are refused."""
    answers = read_tasks(path, tool)
    (low, high), *_ = keys[next(iter(keys))].select("low", "high").iter_rows()
    known = {code for part in keys.values() for code in part["code"]}
    findings = Findings(Raw(answers, str(path)))
    codes, scores = answers["code"], to_number(answers["score"], findings, "score")
    message = "'{}' is not in this key; give the key that was written with these tasks"
    findings.rows(~codes.is_in(list(known)), "code", codes, message)
    findings.rows(~codes.is_first_distinct(), "code", codes, "{} is answered twice; keep one")
    outside = (scores < low) | (scores > high) | ~scores.is_finite()
    message = f"{{}} is outside the scale, {low:g} to {high:g}; correct it, or leave it out"
    findings.rows(outside.fill_null(False), "score", to_text(scores), message)
    findings.stop()
    return answers.with_columns(scores.alias("score"), _file=pl.lit(str(path)))


def _by_rater(
    rows: pl.DataFrame, keys: Mapping[str, pl.DataFrame]
) -> tuple[list[pl.DataFrame], dict[str, Path]]:
    """The answers of each rater in the form of sheets, with the raters' files."""
    tables, given = [], {}
    for rater, own in keys.items():
        found = own.join(rows, on="code", how="left", maintain_order="left")
        found = found.with_columns(comment=pl.lit(None, dtype=pl.String))
        if found["score"].count():
            tables.append(found.head(_reached(found)).drop("_file"))
            given[rater] = Path(str(found["_file"].drop_nulls()[0]))
    if not tables:
        raise InputError("no output has a score; give the files with answers")
    return tables, given


def _reached(rows: pl.DataFrame) -> int:
    """How many rows a rater has reached: up to the last one with a score or comment."""
    said = rows["score"].is_not_null() | (rows["comment"].fill_null("").str.strip_chars() != "")
    return max((place + 1 for place in said.arg_true().to_list()), default=0)


def _load_sheet(path: Path) -> Raw:
    raw = load(path, text=lambda name: name != "score")
    lacking = [name for name in READ if name not in raw.frame.columns]
    if lacking:
        found = raw.frame.columns
        raise refuse(
            path, f"there is no column {lacking[0]}{did_you_mean(lacking[0], found)}, only"
            f" {listed(found)}; put the first row back as it was sent", line=1,
        )  # fmt: skip
    if not raw.frame.height:
        raise refuse(path, "the sheet has no rows; ask the rater for the whole file")
    return raw


def _comments(raw: Raw) -> pl.Series:
    if "comment" in raw.frame.columns:
        return to_text(raw.frame["comment"]).alias("comment")
    return pl.Series("comment", [None] * raw.frame.height, dtype=pl.String)


def _owner(path: Path, codes: pl.Series, keys: Mapping[str, pl.DataFrame]) -> str:
    """The rater of a sheet, by its codes; the file must not have another rater's name."""
    known = {code: rater for rater, part in keys.items() for code in part["code"]}
    often = Counter(known[code] for code in codes if code in known)
    if not often:
        first = next(iter(known))
        found = f"its first code is {codes[0]}" if len(codes) else "it has no codes"
        raise InputError(
            f"{path}: no row belongs to this key ({found}, codes of the key look like {first}); the"
            " sheet is from another campaign: give that campaign's key, or leave the sheet out"
        )
    rater = often.most_common(1)[0][0]
    name = Path(path.name.removesuffix(".gz")).stem
    named = next((who for who, part in keys.items() if part["file"][0] == name), rater)
    if named != rater:
        raise InputError(
            f"{path}: this sheet of {rater} has the name of {named}; if {named} filled it in, ask"
            f" for the right sheet, else rename it to {keys[rater]['file'][0]}{path.suffix}"
        )
    return rater


def _need_rows(
    sent: pl.DataFrame, unrated: pl.Series, filled: pl.Series, own: pl.DataFrame,
    keys: Mapping[str, pl.DataFrame], findings: Findings,
) -> None:  # fmt: skip
    """Check that the sheet has every row once, with its texts, and nothing else."""
    codes = sent["code"]
    texts = {code: both for code, *both in own.select("code", "source", "output").iter_rows()}
    findings.rows(
        unrated & filled, "score", to_text(sent["score"]),
        "the score {} is in a row without a code, which is not rated; move it to its row",
    )  # fmt: skip
    twice = ~unrated & ~codes.is_first_distinct()
    findings.rows(twice, "code", codes, "{} appears twice; keep the right row")
    owners = {code: rater for rater, part in keys.items() for code in part["code"]}

    def foreign(code: str) -> str:
        who = f"of {owners[code]}'s sheet" if code in owners else "that is not in this key"
        return f"'{code}' is a row {who}; restore the code, or delete the added row"

    findings.rows(~unrated & ~codes.is_in(list(texts)), "code", codes, foreign)
    here = set(codes)
    missing = [code for code in texts if code not in here]
    if missing:
        findings.add(
            f"missing: {plural(len(missing), 'row')} ({listed(missing)}); ask for the whole file,"
            " or restore them from the sheet as it was sent"
        )
    for place, name in enumerate(("source", "output")):
        changed = pl.Series(
            [code in texts and _plain(text) != _plain(texts[code][place])
             for code, text in zip(codes, sent[name], strict=True)], dtype=pl.Boolean,
        )  # fmt: skip
        wrong = iter(codes.filter(changed))

        def message(found: str, wrong: Iterable[str] = wrong, k: int = place) -> str:
            code = next(iter(wrong))
            return (
                f"the text of {code} is '{short(found)}', in the key it is"
                f" '{short(texts[code][k])}'; were codes or rows moved? ask for the file as it was"
            )

        findings.rows(changed, name, sent[name], message)


def _plain(text: str) -> str:
    return " ".join(CONTROLS.sub(" ", text).split())


def _odd(
    path: Path, rater: str, rows: pl.DataFrame, codes: pl.Series, findings: Findings
) -> list[Note]:
    """Notes on a sheet; a sheet whose scores were sorted without their rows is refused."""
    notes = [
        Note("table", f"{path.name}: {note}")
        for note in findings.notes if not has_note([note], "first-sheet")
    ]  # fmt: skip
    scores = rows["score"].drop_nulls()
    if not len(scores):
        notes.append(Note("no-scores", f"{path.name}: {rater} gave no score; was it filled in?"))
    moved = codes.to_list() != rows["code"].to_list()
    if moved:
        text = f"{path.name}: rows are in a different order than sent; they were matched by code"
        notes.append(Note("other-order", text))
    elif _is_sorted(scores):
        raise InputError(
            f"{path}: the scores run from {scores[0]:g} to {scores[-1]:g} in order, but the rows"
            " are in the order sent: the score column was sorted without the rows; ask for the"
            " file as it was before"
        )
    if len(scores) >= MIN_SORTED and scores.n_unique() == 1:
        text = f"{path.name}: {rater} gave {scores[0]:g} to all {len(scores)} outputs"
        notes.append(Note("one-score", text))
    return notes


def _is_sorted(scores: pl.Series) -> bool:
    enough = len(scores) >= MIN_SORTED and scores.n_unique() >= MIN_DIFFERENT
    return enough and (scores.is_sorted() or scores.is_sorted(descending=True))


def _absent(keys: Mapping[str, pl.DataFrame], given: Mapping[str, Path]) -> list[Note]:
    """A note on missing sheets, and on the outputs that only they have."""
    absent = [rater for rater in keys if rater not in given]
    if not absent:
        return []
    place = ["lp", "doc", "seg", "system"]
    here = pl.concat([keys[rater] for rater in given]).select(place)
    gone = pl.concat([keys[rater] for rater in absent]).select(place).unique()
    alone = gone.join(here, on=place, how="anti", nulls_equal=True).height
    return [Note(
        "sheets-missing",
        f"no sheet from {len(absent)} of {len(keys)} raters ({listed(absent)}); {alone:,} outputs"
        " were assigned only to them",
    )]  # fmt: skip
