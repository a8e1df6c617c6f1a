"""``assay new``: a project made from what there is, or its settings changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import _expanded, names, note, pairs, people, print_json, say
from assay.cli.options import Better, Text
from assay.errors import InputError
from assay.project.settings import Protocol

if TYPE_CHECKING:
    from assay.project.project import Project
    from assay.project.sources import Part
    from assay.tables.guess import Guess
    from assay.tables.load import Raw


def new(
    folder: Path, more: list[Path] | None = None, *, origin: list[Path] | None = None,
    protocol: Protocol | None = None, raters: Text = None, pay: Text = None, columns: Text = None,
    metrics: Text = None, lower_metrics: Text = None, exclude: Text = None,
    better: Better | None = None, kind: Text = None, format: Text = None, lp: Text = None,
    only: Text = None, replace: bool = False, json: bool = False,
) -> None:  # fmt: skip
    """Make a project from your files, or change its settings.

    The guesses are shown. Inside the project, every command finds its files and settings.

    Example: assay new demo --from outputs.csv --protocol esa
    """
    from assay.project.create import file_of
    from assay.project.project import open_project

    sources = [*(origin or ()), *(more or ())] if origin else []
    if more and not origin:
        raise InputError(f"{more[0]} is a second folder; name files with --from")
    said = _said(protocol, raters, pay, better)
    there = (folder / "assay.toml").is_file()
    if not sources and not there:
        raise InputError(
            f"{folder} is not a project yet; say with --from what to make it of: a table, a folder"
            " of text files, or a WMT folder"
        )
    if sources:
        of_files = {
            "kind": kind, "format": format, "lp": lp, "columns": columns, "metrics": metrics,
            "lower_metrics": lower_metrics, "exclude": exclude, "only": only,
        }  # fmt: skip
        project, parts = _made(folder, sources, of_files, said, replace=replace)
    else:
        if raters is not None:
            said["raters"] = _other_raters(folder / "assay.toml", said["raters"])
        listed = {"metrics": metrics, "lower_metrics": lower_metrics, "exclude": exclude}
        said |= {name: names(text) for name, text in listed.items() if text is not None}
        said |= {"columns": pairs("columns", columns)} if columns else {}
        project, parts = open_project(folder).record(said), []
    if json:
        print_json(_as_json(project, parts))
        return
    for part in parts:
        _show(part)
    written = [folder / "assay.toml", *(folder / file_of(part, folder) for part in parts)]
    say(f"  wrote {', '.join(map(str, written))}; {_next(project, folder)}")


def _said(protocol: Text, raters: Text, pay: Text, better: Text) -> dict[str, object]:
    """The settings that the options say."""
    named = {"protocol": protocol, "better": better}
    said: dict[str, object] = {name: text for name, text in named.items() if text is not None}
    if raters is not None:
        known = people(raters)
        said["raters"] = {"number" if isinstance(known, int) else "names": known}
    if pay is not None:
        from dataclasses import asdict

        from assay.pay import parse_pay

        said["pay"] = {name: x for name, x in asdict(parse_pay(pay)).items() if x is not None}
    return said


def _other_raters(file: Path, said: Any) -> dict[str, object]:
    """Other raters; what else was said of them stays."""
    import tomllib

    known = tomllib.loads(file.read_text("utf-8")).get("raters", {})
    return {**{k: v for k, v in known.items() if k not in ("number", "names")}, **said}


def _made(
    folder: Path, sources: Sequence[Path], given: Mapping[str, str | None],
    said: Mapping[str, object], *, replace: bool,
) -> tuple[Project, list[Part]]:  # fmt: skip
    """A new project, and the tables that it has."""
    from assay.cli.guessing import answered
    from assay.project.create import create_project, settings_of
    from assay.project.sources import Choices, read_sources
    from assay.tables.guess import guess

    own = pairs("columns", given["columns"])

    def ask(raw: Raw, kind: str | None) -> Guess:
        here = {
            name: user for name, user in own.items()
            if {user, *(part.strip() for part in user.split("+"))} & {*raw.frame.columns}
        }  # fmt: skip
        if kind is None and _has_our_names(raw):
            open_ = any(item.argument == "kind" for item in guess(raw, columns=here).questions)
            kind = "scores" if open_ else None
        return answered(raw, kind, here)

    choices = Choices(
        given["kind"], given["format"], given["lp"], pairs("only", given["only"]) or None,
        names(given["metrics"]), names(given["lower_metrics"]), names(given["exclude"]) or (),
    )  # fmt: skip
    parts = read_sources(_expanded(sources), choices, ask)
    _need_direction(parts, said)
    exclude = {} if not choices.exclude else {"exclude": list(choices.exclude)}
    name = folder.resolve().name or "project"
    settings = {"name": name, **said, **settings_of(parts, folder), **exclude}
    return create_project(folder, parts, settings, replace=replace), parts


def _has_our_names(raw: Raw) -> bool:
    """Whether a table has Assay's names of a test set, one beside those that ratings have too."""
    own = {"source", "target", "reference", "words", "cost", "domain"}
    return {"system", "seg"} <= {*raw.frame.columns} and bool(own & {*raw.frame.columns})


def _need_direction(parts: Sequence[Part], said: Mapping[str, object]) -> None:
    """Refuse to guess which scores are better if a score's name suggests lower ones."""
    for part in parts:
        doubted = part.guess is not None and part.guess.lower_likely
        if part.kind == "ratings" and doubted and not {"better", "protocol"} & {*said}:
            raise InputError(
                f"{part.files[0]}: in scores with this name, lower is usually better. Say which it"
                " is with `better` (lower or higher), or with --protocol mqm"
            )


def _show(part: Part) -> None:
    """Print what a table was taken for; what was done to it goes to stderr."""
    note(*map(str, part.table.notes))
    found = part.guess
    lines = [f"  {_size(part)}."]
    if found is not None:
        own = [f"{name} <- {user}" for name, user in found.columns.items() if name != user]
        own += [f"{found.into} <- {_some(list(found.melted))}"] if found.melted else []
        lines[0] += f"   Columns: {', '.join(own)}." if own else ""
    if part.kind == "scores":
        lines.append(f"  {_metrics(part)}")
    say(*(line for line in lines if line.strip()))


def _some(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _size(part: Part) -> str:
    from assay.results import plural

    frame = part.table.frame
    known = {name: frame[name].n_unique() for name in frame.columns}
    if part.kind == "scores":
        segments = frame.n_unique([name for name in ("lp", "doc", "seg") if name in known])
        text = f"{plural(known['system'], 'system')}, {plural(segments, 'segment')}"
        text += f" in {plural(known['doc'], 'document')}" if "doc" in known else ""
        texts = {"source": "sources", "target": "outputs", "reference": "references"}
        held = " and ".join(words for name, words in texts.items() if name in known)
        return f"{text}, with {held}" if held else f"{text}, without texts"
    what = {"edits": "edit", "errors": "marked error"}.get(part.kind, part.kind.removesuffix("s"))
    text = plural(frame.height, what)
    for name, who in (("system", "of"), ("rater", "by"), ("editor", "by")):
        text += f" {who} {plural(known[name], name)}" if name in known else ""
    return text


def _metrics(part: Part) -> str:
    from assay.tables.tables import TestSet

    table, found = part.table, part.guess
    if not isinstance(table, TestSet):
        return ""
    named = [f"{m} (less is better)" if m in table.lower_metrics else m for m in table.metrics]
    parts = [f"Metrics: {', '.join(named) or 'none'}."]
    if found is not None:
        for what, names_ in (("counts", found.counts), ("ratings", found.ratings)):
            others = ", ".join(name for name in names_ if name not in table.metrics)
            parts += [f"Not metrics ({what}): {others}."] if others else []
        unsure = [f"`{name}`" for name in found.unsure if name not in table.metrics]
        if unsure:
            are, a = ("is", "a metric") if len(unsure) == 1 else ("are", "metrics")
            parts.append(f"Not sure: {are} {', '.join(unsure)} {a}? (--metrics)")
    return "   ".join(parts)


def _next(project: Project, folder: Path) -> str:
    """What to do now, by what the project has."""
    of = project.settings
    if of.judgments or of.edits:
        return f"in it, assay {'rank' if of.judgments else 'effort'} compares the systems"
    if of.ratings:
        return "in it, assay estimate gives the scores, assay report a page"
    if of.protocol is None:
        return f"say how it will be rated: assay new {folder} --protocol esa"
    return "in it, assay plan says how much to rate, assay sample draws what"


def _as_json(project: Project, parts: Sequence[Part]) -> dict[str, Any]:
    from assay._version import __version__

    of = project.settings
    return {
        "kind": "project",
        "version": __version__,
        "signature": f"project|{of.name}|protocol:{of.protocol or 'open'}|v:{__version__}",
        "folder": str(project.folder),
        "tables": [
            {
                "table": part.kind,
                "sources": [str(file) for file in part.files],
                "rows": len(part.table),
                "columns": {} if part.guess is None else dict(part.guess.columns),
                "unsure": [] if part.guess is None else list(part.guess.unsure),
            }
            for part in parts
        ],
        "scores": of.scores,
        "metrics": None if of.metrics is None else list(of.metrics),
    }
