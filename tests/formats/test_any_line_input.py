"""No content of a file may give anything but a table or one of our own errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import AssayError
from assay.formats.catalogue import FORMATS, Options, load_format
from assay.tables.answers import read_errors, read_judgments
from assay.tables.tables import read_ratings, read_scores
from formats.line_texts import ANY_BYTES, TOKENS, lines_of

CHECKS = {
    "scores": read_scores,
    "ratings": read_ratings,
    "errors": read_errors,
    "judgments": read_judgments,
}
RNK = ["srclang", "trglang", "srcIndex", "documentId", "segmentId", "judgeId", "system1Id",
       "system2Id", "system3Id", "system1rank", "system2rank", "system3rank"]  # fmt: skip
HEADERS = {
    "wmt-seg-scores": ["m", "en-de", "test", "ref", "Alpha", "d", "1", "0.5"],
    "google-mqm": ["system", "doc", "doc_id", "seg_id", "rater", "source", "target",
                   "category", "severity"],
    "avg-seg-scores": ["system", "mqm_avg_score", "seg_id"],
    "wmt-rnk": RNK,
    "wmt15-rnk": ["srclang", "trglang", "srcIndex", "segmentId", "judgeID", "system1Id",
                  "system1rank", "system2Id", "system2rank", "rankingID"],
    "evalica": ["left", "right", "winner"],
}  # fmt: skip
OPTIONS = st.builds(
    Options, lp=st.sampled_from([None, "en-de"]), blanks=st.sampled_from(["drop", "best"])
)


def attempt(path: Path, name: str, options: Options) -> None:
    for kind in FORMATS[name].reads:
        try:
            raw = load_format(path, name, kind, options)
            raw.lines(range(raw.frame.height))
            CHECKS[kind](raw)
        except AssayError as error:
            assert str(error)


@pytest.mark.parametrize("name", HEADERS)
@given(st.data())
def test_files_of_any_content(name: str, tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(data.draw(st.one_of(lines_of(HEADERS[name]), ANY_BYTES)))
    attempt(path, name, data.draw(OPTIONS))


PARTS = {
    "sources/en-de.txt": TOKENS,
    "documents/en-de.docs": st.sampled_from(["news a", "news  b", "x", "", "- -"]),
    "references/en-de.ref.txt": TOKENS,
    "system-outputs/en-de/Alpha.txt": TOKENS,
    "human-scores/en-de.mqm.seg.score": st.sampled_from(
        ["Alpha 1", "Beta None", "Alpha x", "\x00"]
    ),
    "human-scores/en-de.mqm.seg.rating": TOKENS.map("Alpha\t{}".format),
    "metric-scores/en-de/m-ref.seg.score": st.sampled_from(["Alpha nan", "Alpha\t1", "Beta 2"]),
}


@given(st.data())
def test_folders_of_any_content(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("folder")
    size = data.draw(st.integers(0, 3))
    for name, line in PARTS.items():
        lines = st.lists(line, min_size=size, max_size=size).map("\n".join).map(str.encode)
        content = data.draw(st.one_of(st.none(), lines, lines, lines, ANY_BYTES))
        if content is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    attempt(folder, "mt-metrics-eval", data.draw(OPTIONS))


@pytest.mark.parametrize("name", [*HEADERS, "mt-metrics-eval"])
def test_what_is_not_there_or_of_the_other_kind(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for path in (tmp_path / "nothing", tmp_path, tmp_path / "file"):
        for kind in FORMATS[name].reads:
            with pytest.raises(AssayError):
                load_format(path, name, kind)


@pytest.mark.parametrize("name", HEADERS)
def test_cut_off_gzip(name: str, tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "file.csv.gz"
    path.write_bytes(gzip.compress(b"left,right,winner\n" * 50)[:-12])
    with pytest.raises(AssayError, match="damaged or cut off"):
        load_format(path, name)


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf\n"])
def test_empty_files_say_what_was_expected(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    with pytest.raises(AssayError, match=r"the file is empty; expected (the|a) header|lines with"):
        load_format(path, name)


@pytest.mark.parametrize("name", HEADERS)
def test_other_encodings_are_named_with_their_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes("ok\nKätze\n".encode("latin-1"))
    with pytest.raises(AssayError, match="line 2: byte 0xe4 is not UTF-8"):
        load_format(path, name)
    path.write_bytes("ok".encode("utf-16")[:-1])
    with pytest.raises(AssayError, match="begins as UTF-16 and is damaged"):
        load_format(path, name)


@pytest.mark.parametrize("name", HEADERS)
def test_what_a_program_of_windows_calls_unicode_is_read(name: str, tmp_path: Path) -> None:
    path, said = tmp_path / "file.csv", []
    for encoding in ("utf-8", "utf-16"):
        path.write_bytes("ok\nno\n".encode(encoding))
        with pytest.raises(AssayError) as caught:
            load_format(path, name)
        said.append(str(caught.value))
    assert said[0] == said[1]
