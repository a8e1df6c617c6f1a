"""What is shown of kits: the figure, and the sections of designs and files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import assay
from assay.kits.collect import summarise_collected
from assay.kits.pieces import pieces_from_features
from assay.kits.results import BuiltKits, CollectedKits, KitDesign
from assay.results import has_note
from assay.views.figures import svg_text
from assay.views.kits import draw_kits
from assay.views.section import Table, section_of


def test_kits_are_marked() -> None:
    points = np.random.default_rng(1).random((40, 3))
    found = assay.find_kits(pieces_from_features(points), count=2, mode="dbscan", eps=0.6, rng=0)
    figure = draw_kits(found)
    left, right = figure.axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["kit 1", "kit 2"]
    assert len(left.texts) == 40
    assert left.lines[1].get_xydata().tolist() == [
        list(found.pieces[k].place) for k in found.kits[0].pieces
    ]
    assert right.lines[0].get_ydata().tolist() == list(found.distances)
    assert "<svg" in svg_text(draw_kits(found))


def test_many_pieces_have_no_numbers() -> None:
    points = np.random.default_rng(1).random((150, 1))
    found = assay.find_kits(pieces_from_features(points), rng=0)
    assert len(draw_kits(found).axes[0].texts) == 0


def test_no_kit_and_no_knee() -> None:
    found = assay.find_kits(
        pieces_from_features(np.ones((3, 2)), words=[100, 500, 900]), rng=0
    )  # fmt: skip
    assert found.kits == ()
    assert "<svg" in svg_text(draw_kits(found))


def test_a_design_shows_its_balance() -> None:
    design = assay.design_kits(["A", "B", "C"], 4, design="latin", rng=1)
    section = section_of(design)
    tasks, first, *_ = (block for block in section.blocks if isinstance(block, Table))
    assert [column.name for column in tasks.columns] == ["editor", "1.", "2.", "3."]
    assert tasks.rows[0][0] == "editor-01"
    assert first.caption == "How often: system and document (not balanced)"
    assert [list(row[1:]) for row in first.rows] == [
        list(r) for r in design.balance.system_document
    ]
    assert section.notes == design.notes
    assert KitDesign.from_dict(json.loads(json.dumps(design.to_dict()))) == design


def test_what_was_built_and_came_back(tmp_path: Path) -> None:
    texts = assay.simulate(documents=3, systems=3, texts=True, rng=1).test_set
    documents = texts.segments["doc"].unique(maintain_order=True).to_list()
    design = assay.design_kits(texts.systems, 3, documents=documents, rng=1)
    human = texts.systems[0]
    built = assay.build_kits(
        design.kits, texts, tmp_path / "kits", human=human, formats=["tsv", "xliff"]
    )
    assert BuiltKits.from_dict(json.loads(json.dumps(built.to_dict()))) == built
    section = section_of(built)
    assert f"Key: {built.key} (keep it from the editors)" in section.lead
    (traces,) = section.blocks
    assert isinstance(traces, Table)
    assert [row[0] for row in traces.rows] == list(texts.systems[1:])
    assert has_note(section.notes, "no-languages")
    edits = assay.collect_kits(built.key, [path for path in built.files if path.suffix == ".tsv"])
    collected = summarise_collected(edits, edits.write(tmp_path / "edits.tsv"))
    assert CollectedKits.from_dict(json.loads(json.dumps(collected.to_dict()))) == collected
    assert section_of(collected).lead == (
        f"{len(edits):,} edits of 3 editors written to {tmp_path / 'edits.tsv'}."
    )
    assert has_note(collected.notes, "nothing-changed")
