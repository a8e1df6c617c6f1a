"""The rules of the house: one way to JSON, one word per thing, few files for one answer."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path

import pytest

import assay
from assay.cli import save_json
from assay.worlds.editing import EditingWorld
from tests.conftest import ROOT
from tests.house import (
    SOURCE,
    Function,
    body_lines,
    constants,
    importers,
    in_room,
    is_text_of,
    maps_of_tree,
    nodes,
    options,
    sources,
    text_keys,
    texts_compared,
    texts_in,
)

MOST_FILES = {"estimate": 16, "rank": 16, "effort": 16}
"""Files with a function that runs for one answer."""
MOST_FILE_LINES, MOST_BODY_LINES, MOST_WITH_PREFIX = 770, 70, 2

OTHERS_FLAGS = {"--nthreads"}
"""Options of other programs: dask worker."""
OUTPUTS = {"-o", "--output"}
"""What these name is said by the help of every command."""

DESIGNS = {
    "segments", "documents", "snippets", "fixed-snippets", "snippets-linear", "interleaved",
    "rounds", "balanced",
    "docs-prop", "docs-opt", "metrics-prop", "metrics-opt", "SL", "WD", "DF", "DB",
}  # fmt: skip
SEARCHES = {"startswith", "endswith", "find", "index", "partition", "replace"}
SMALL_MODULE = 60
"""Lines of a module that is small."""
VAGUE = {
    "ENOUGH", "FEW", "FEWER", "FAR", "LARGE", "LEAST", "LITTLE", "LONG", "MANY",
    "MOST", "MOSTLY", "MUCH", "NEAR", "NICE", "PATIENCE", "REACH", "SHORT", "SMALL", "STEP",
    "EVERY", "EDGE", "TRIES",
}  # fmt: skip
"""Names of constants that do not say what they are a number of."""
WORDS = {"segments", "documents", "snippets"}
"""Designs whose names are also columns and counts, so that they may be keys of a dict."""


def listed(faults: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}: {', '.join(places)}" for name, places in sorted(faults.items()))


def test_results_are_written_by_one_mechanism() -> None:
    own = [path for path, node in nodes(ast.FunctionDef) if node.name == "to_dict"]
    assert set(own) <= {"results.py"}


def test_class_names_are_used_once() -> None:
    """An underscore alone does not tell two classes apart."""
    places = defaultdict(list)
    for path, node in nodes(ast.ClassDef):
        places[node.name.lstrip("_")].append(path)
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert not twice, listed(twice)


def test_an_option_has_one_meaning_and_one_help_text() -> None:
    import typer

    from assay.cli import make_app

    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for command, name, text in options(typer.main.get_command(make_app())):
        assert text, f"assay {command} {name} has no help"
        texts[name][text].append(command)
    several = {
        name: [f"'{text}' ({', '.join(commands)})" for text, commands in found.items()]
        for name, found in texts.items()
        if len(found) > 1 and name not in OUTPUTS
    }
    assert not several, listed(several)


def test_only_designs_compares_the_names_of_designs() -> None:
    known = set(DESIGNS)
    if find_spec("assay.designs") is not None:
        names = import_module("assay.designs.base")
        known |= {*names.design_names(), *names.short_names()}
    faults = defaultdict(list)
    for path, tree in sources().items():
        # Papers list the designs of their tables; a budget may be in segments.
        if in_room(path, "designs", "papers") or path == "sampling/budget.py":
            continue
        for line, text in texts_compared(tree):
            if text in known:
                faults[path].append(f"'{text}' in line {line}")
        for line, text in text_keys(tree):
            if text in known - WORDS:
                faults[path].append(f"key '{text}' in line {line}")
    assert not faults, listed(faults)


def test_only_the_command_line_has_dashes() -> None:
    flag = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    faults = defaultdict(list)
    for path, node in nodes(ast.Constant):
        if isinstance(node.value, str) and not in_room(path, "cli"):
            flags = [found for found in flag.findall(node.value) if found not in OTHERS_FLAGS]
            faults[path] += [f"{found} in line {node.lineno}" for found in flags]
    spoken = {path: found for path, found in faults.items() if found}
    assert not spoken, listed(spoken)


def test_per_cent_is_written_without_a_space() -> None:
    spaced = re.compile(r"\} %(?=[ ,.;)\"])")
    # Papers have the words of the papers.
    texts = {path: (SOURCE / path).read_text("utf-8") for path in sources()}
    faults = [path for path, text in texts.items() if spaced.search(text)]
    assert not [path for path in faults if not in_room(path, "papers")]


def test_public_names_are_listed_by_packages_alone() -> None:
    lists = [
        path
        for path, node in nodes(ast.Name)
        if node.id == "__all__" and not path.endswith("__init__.py")
    ]
    assert not lists


def test_a_prefix_of_three_files_is_a_folder() -> None:
    files = defaultdict(list)
    for path in SOURCE.rglob("*.*"):
        if path.suffix in {".py", ".html", ".js", ".css"} and not path.name.startswith("_"):
            prefix = re.split("[_-]", path.stem)[0] + path.suffix
            files[str(path.relative_to(SOURCE).with_name(prefix))].append(path.name)
    crowded = {prefix: names for prefix, names in files.items() if len(names) > MOST_WITH_PREFIX}
    assert not crowded, listed(crowded)


def test_no_small_module_serves_one_other_small_one() -> None:
    counts = {path: len((SOURCE / path).read_text("utf-8").splitlines()) for path in sources()}
    users = importers()
    faults = {
        path: sorted(users[path])
        for path, count in counts.items()
        if count <= SMALL_MODULE and len(users[path]) == 1
        for user in users[path]
        if Path(user).parent == Path(path).parent and counts[user] <= 4 * SMALL_MODULE
    }
    assert not faults, listed(faults)


def test_constants_are_called_after_what_they_bound() -> None:
    faults = defaultdict(list)
    for path, name, value in constants():
        if name in VAGUE and not isinstance(value, str):
            faults[path].append(f"{name} = {value}")
    assert not faults, listed(faults)


def test_notes_are_told_apart_by_their_codes() -> None:
    """What a note or a problem says is for people: no code looks for words in it."""
    faults = defaultdict(list)
    for path, node in nodes(ast.Compare):
        sides = [node.left, *node.comparators]
        if any(map(is_text_of, sides)) and any(text for side in sides for text in texts_in(side)):
            faults[path].append(f"line {node.lineno}")
    for path, node in nodes(ast.Call):
        searched = isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES
        if searched and is_text_of(node.func.value):
            faults[path].append(f"line {node.lineno}")
    assert not faults, listed(faults)


def test_only_views_make_tables_and_figures() -> None:
    faults = defaultdict(list)
    for path, node in nodes(ast.ImportFrom):
        if node.module == "assay.views.section" and not in_room(path, "views"):
            made = {name.name for name in node.names} & {"Table", "Column", "Figure", "Section"}
            calls = [call for call in ast.walk(sources()[path]) if isinstance(call, ast.Call)]
            called = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
            faults[path] += sorted(made & called)
    made_outside = {path: names for path, names in faults.items() if names}
    assert not made_outside, listed(made_outside)


def test_the_maps_of_the_tree_are_whole() -> None:
    """A stranger who looks for a public function finds its room in CONTRIBUTING.md."""
    tree, public = maps_of_tree()
    rooms = {path.split("/")[0] for path in sources() if not path.startswith("_")}
    assert {name.rstrip("/") for name in tree} == rooms | {"__init__.pyi"}
    homes = defaultdict(set)
    for name, home in assay._homes().items():  # type: ignore[attr-defined]
        if name.islower() and not name.startswith("_"):
            homes[home.split(".")[1]].add(name)
    assert public == dict(homes), "the list of public functions in CONTRIBUTING.md"


def test_no_function_of_the_library_is_taken_for_a_test() -> None:
    """``pytest src/assay/...`` runs the examples of a file, and would run these."""
    functions = (node for tree in sources().values() for node in tree.body)
    names = [node.name for node in functions if isinstance(node, ast.FunctionDef)]
    assert not [name for name in names if name.startswith("test_")]


def test_files_and_functions_are_short() -> None:
    faults = defaultdict(list)
    for path in sources():
        count = len((SOURCE / path).read_text("utf-8").splitlines())
        if count > MOST_FILE_LINES:
            faults[path].append(f"{count} lines")
    for path, node in nodes((ast.FunctionDef, ast.AsyncFunctionDef)):
        function: Function = node
        if body_lines(function) > MOST_BODY_LINES:
            faults[path].append(f"{function.name} has {body_lines(function)} lines")
    assert not faults, listed(faults)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small simulated campaign with ratings, judgments, edits and a result."""
    folder = tmp_path_factory.mktemp("campaign")
    world = assay.simulate(documents=20, systems=3, rng=1)
    world.test_set.write(folder / "scores.tsv")
    sample = assay.sample(world.test_set, budget="40%", rng=1)
    sample.write(folder / "sample.tsv")
    world.rate(sample).write(folder / "ratings.tsv")
    judgments = world.judge(600, per_set=3, rng=1)
    judgments.write(folder / "judgments.tsv")
    save_json(assay.rank(judgments, rng=1).to_dict(), folder / "saved.json")
    kits = [
        (f"editor-{number}", document, system)
        for number, order in enumerate(permutations("ABC"))
        for document, system in zip("xyz", order, strict=True)
    ]
    edits = EditingWorld({"A": 0.0, "B": 2.0, "C": 12.0}, segments=6).edits(kits, rng=1)
    edits.write(folder / "edits.tsv")
    return folder


COMMANDS = {
    "estimate": "estimate scores.tsv ratings.tsv --sample sample.tsv --better lower -o result.json",
    "rank": "rank judgments.tsv --seed 1 -o result.json",
    "effort": "effort edits.tsv --seed 1 -o result.json",
    "report": "report saved.json -o report.html",
}


TRACED = """
import sys
from assay.cli import main
from tests.house import files_run

def run():
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, stop.code

print("\\n".join(["FILES", *files_run(run)]))
"""
"""A command in a process of its own: what ran there before would not run again."""


def traced(folder: Path, *words: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", TRACED, *words], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE.parent), str(ROOT)])},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.partition("FILES\n")[2].split()


@pytest.mark.parametrize("name", COMMANDS)
def test_few_files_run_for_one_answer(name: str, campaign: Path) -> None:
    files = traced(campaign, *COMMANDS[name].split())
    assert "cli/__init__.py" in files
    assert len(files) <= MOST_FILES.get(name, len(files)), (
        f"{name} runs {len(files)} files:\n" + "\n".join(files)
    )
