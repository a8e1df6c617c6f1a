"""The bookkeeping of benchmarks: claims are recorded, and the page says what was kept."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT

KEPT = """
from benchmarks.claims import claim
claim("reading | checking", 2.0, goal=3, unit="times", peer="2 s, polars 1 s")
claim("width beside a peer", 0.5, unit="times")
"""
MISSED = """
from benchmarks.claims import claim, skipped
claim("speed", 12.0, goal=50, at_most=False, unit="times")
claim("nothing came out", float("nan"), goal=1, unit="s")
skipped("no data here")
"""
FAILED = """
from benchmarks.claims import claim
claim("before the fault", 1.0, goal=2, unit="s")
raise SystemExit(3)
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The benchmarks with three scripts of its own in place of the real ones."""
    monkeypatch.syspath_prepend(ROOT)
    modules = {
        name: importlib.import_module(f"benchmarks.{name}")
        for name in ("claims", "page", "__main__")
    }
    package = tmp_path / "benchmarks"
    package.mkdir()
    real = str(ROOT / "benchmarks")
    (package / "__init__.py").write_text(f"__path__ = [*__path__, {real!r}]\n")
    for name, code in {"kept": KEPT, "missed": MISSED, "failed": FAILED}.items():
        (package / f"{name}.py").write_text(code)
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(modules["__main__"], "scripts", lambda: ["failed", "kept", "missed"])
    monkeypatch.setattr(modules["__main__"], "FULL", {"kept": ("--draws", "9")})
    return SimpleNamespace(
        claims=modules["claims"], page=modules["page"], run=modules["__main__"].main,
        text=lambda: (tmp_path / "docs" / "benchmarks.md").read_text("utf-8"),
        row=lambda word: next(
            line for line in (tmp_path / "docs" / "benchmarks.md").read_text("utf-8").splitlines()
            if line.startswith(f"| {word}")
        ),
    )  # fmt: skip


def test_every_claim_is_in_the_table_with_its_verdict(bench: SimpleNamespace) -> None:
    assert bench.run(["kept", "missed"]) == 0
    assert bench.row("reading") == (
        "| reading \\| checking | at most 3 times | 2 times (2 s, polars 1 s) |"
    )
    assert bench.row("width") == "| width beside a peer | – | 0.5 times |"
    assert bench.row("speed") == "| speed | **missed:** at least 50 times | 12 times |"
    assert "**missed:** at most 1 s" in bench.row("nothing came out")
    assert "1 of 3 goals are kept; 1 numbers have none" in bench.text()
    assert "- `missed`: no data here" in bench.text()
    assert "cores" in bench.text()
    assert "polars" in bench.text()


def test_a_part_replaces_only_its_own_rows(bench: SimpleNamespace) -> None:
    bench.run(["kept", "missed"])
    script = Path("benchmarks/missed.py")
    script.write_text(MISSED.replace("12.0", "60.0").replace('skipped("no data here")', ""))
    bench.run(["missed"])
    assert bench.row("speed") == "| speed | at least 50 times | 60 times |"
    assert bench.row("reading").endswith("| 2 times (2 s, polars 1 s) |")
    assert "no data here" not in bench.text()


def test_a_script_that_fails_is_said_to_have_failed(
    bench: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    assert bench.run([]) == 1
    assert "FAILED: failed" in capfd.readouterr().out
    assert "- `failed` failed" in bench.text()
    assert bench.row("before") == "| before the fault | at most 2 s | 1 s |"


def test_full_sizes_are_told(bench: SimpleNamespace) -> None:
    bench.run(["kept"])
    assert "`python -m benchmarks.kept --draws 9`" in bench.text()
    assert " s, defaults; full size:" in bench.text()
    bench.run(["kept", "--full"])
    assert " s, --draws 9; full size:" in bench.text()


def test_one_script_takes_its_own_options(
    bench: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.run(["kept", "--draws", "3"])
    assert " s, --draws 3; full size:" in bench.text()
    with pytest.raises(SystemExit):
        bench.run(["kept", "missed", "--draws", "3"])
    assert "--draws 3: name the one script that this is for" in capsys.readouterr().err


def test_an_unknown_script_is_refused_with_those_there_are(
    bench: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        bench.run(["kep"])
    assert stop.value.code == 2
    assert "no benchmark kep; there are failed, kept, missed" in capsys.readouterr().err


def test_a_claim_prints_one_line(
    bench: SimpleNamespace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(bench.claims.RECORD, raising=False)
    bench.claims.claim("time", 1234.5, goal=2000, unit="s", peer="a peer 9 s")
    assert capsys.readouterr().out == (
        "CLAIM time: 1,234 s (goal: at most 2,000 s)  kept; a peer 9 s\n"
    )


def test_machines_are_told_apart(bench: SimpleNamespace) -> None:
    claim = bench.claims.Claim("speed", 1.0, 2.0, True, "s", "")
    found = {
        name: bench.page.Outcome((claim,), (), False, 1.0, (), machine)
        for name, machine in {"a": "old", "b": "new", "c": "old"}.items()
    }
    text = bench.page.page(found, {})
    assert "- old: a, c" in text
    assert "- new: b" in text


def test_every_benchmark_can_be_run_and_full_sizes_name_real_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    main = importlib.import_module("benchmarks.__main__")
    known = main.scripts()
    assert set(main.FULL) <= set(known)
    for name in known:
        code = (ROOT / "benchmarks" / f"{name}.py").read_text("utf-8")
        assert "def main() -> None:" in code, name
        assert "claim(" in code, name
        for option in main.FULL.get(name, ())[::2]:
            assert f'"{option}"' in code, (name, option)


def test_progress_is_for_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    owner = importlib.import_module("benchmarks.campaign_owner")
    owner.show("\r1 of 2 ratings")
    monkeypatch.setattr(owner.sys.stderr, "isatty", lambda: True, raising=False)
    assert capsys.readouterr().err == ""
    owner.show("\r2 of 2 ratings")
    assert capsys.readouterr().err == "\r2 of 2 ratings"
