"""docs/worlds.md says what the package does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from pathlib import Path

import pytest

from assay.worlds.profiles import PROFILES, Kind, Profile
from assay.worlds.simulate import simulate

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "worlds.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## Parameters")[1]
ROWS = re.findall(r"^\| `([a-z_.]+)` \| .* \| (.*) \| (.*) \|$", SECTION, flags=re.M)


def shown(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{number:g}" for name, number in value.items())
    values = value if isinstance(value, tuple) else (value,)
    return " ".join(f"{number:g}" for number in values)


def test_every_parameter_is_listed() -> None:
    kinds = {"major", "minor", "punctuation"}
    names = {field.name for field in fields(Profile)} - kinds - {"name"}
    names |= {f"{kind}.{field.name}" for kind in kinds for field in fields(Kind)}
    names |= {f"{kind}.rest" for kind in kinds}
    assert {name for name, *_ in ROWS} == names


@pytest.mark.parametrize(("name", "ende", "zhen"), ROWS)
def test_listed_values_are_those_of_the_profiles(name: str, ende: str, zhen: str) -> None:
    assert shown(attrgetter(name)(PROFILES["en-de"])) == ende
    assert shown(attrgetter(name)(PROFILES["zh-en"])) == zhen


def test_every_option_is_explained() -> None:
    listed = re.findall(r"^\| `([a-z]+)` \|", PAGE.split("## The model")[0], flags=re.M)
    assert listed == list(inspect.signature(simulate).parameters)


def test_the_examples_run() -> None:
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.S):
        exec(block, {})
