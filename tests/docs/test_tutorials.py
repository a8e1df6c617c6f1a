"""The tutorials are true: each is one session in one folder, and prints what it says it prints."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import Ran
from tests.docs.test_docs import BLOCK, TUTORIALS
from tests.effort.deliveries import deliver

FILES = {"localisation": deliver}
"""What a tutorial starts from and does not make itself."""
SHOWN = {"localisation", "first_campaign"}
"""Those that also show what no command of theirs prints: their files, a server's links."""
SESSIONS = [page for page in TUTORIALS if page.stem != "index"]
COMMAND = re.compile(r"^\$ ((?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)


def steps(session: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with the output shown below it."""
    for match in COMMAND.finditer(session):
        yield match[1].replace("\\\n", " "), match[2]


def first_difference(shown: str, printed: str) -> str | None:
    """The first shown line that was not printed in its place; ``...`` stands for any lines."""
    lines = iter([line.rstrip() for line in printed.splitlines() if line.strip()])
    anywhere = True  # where the output begins is nobody's promise
    for line in (line.rstrip() for line in shown.splitlines()):
        if line == "...":
            anywhere = True
        elif line:
            found = line in lines if anywhere else next(lines, None) == line
            if not found:
                return line
            anywhere = False
    return None


def test_the_comparison_sees_what_is_wrong() -> None:
    printed = "title\na 1\nb 2\nc 3\n"
    assert first_difference("a 1\nb 2", printed) is None
    assert first_difference("title\n...\nc 3", printed) is None
    assert first_difference("a 1\nc 3", printed) == "c 3"
    assert first_difference("b 2\n...\na 1", printed) == "a 1"
    assert first_difference("a 2", printed) == "a 2"
    assert list(steps("$ assay a \\\n  --b\nout 1\nout 2\n$ assay c\n")) == [
        ("assay a    --b", "out 1\nout 2\n"),
        ("assay c", ""),
    ]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_shows(
    page: Path,
    tmp_path: Path,
    run_assay: Callable[..., Ran],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if page.stem in FILES:
        FILES[page.stem](tmp_path)
    names: dict[str, object] = {}
    answer = ""
    for match in BLOCK.finditer(page.read_text("utf-8")):
        language, content = match[1], match[2]
        if language == "python":
            capsys.readouterr()
            exec(compile(content, page.name, "exec"), names)
            answer = capsys.readouterr().out
        elif language == "text":
            assert content == answer or page.stem in SHOWN
        else:
            assert language == "console", "a session has commands, code and answers only"
            for command, shown in steps(content):
                program, *words = shlex.split(command)
                assert program == "assay"
                ran = run_assay(*words)
                assert ran.code == 0, (command, ran.err)
                assert first_difference(shown, ran.out + ran.err) is None, (command, ran.out)
