"""XML from elsewhere: what it says is read, what it asks for is not done."""

from __future__ import annotations

import http.server
import threading
from pathlib import Path

import pytest

from assay.errors import TableError
from assay.formats.xliff import child, children, flat_text, line_of, read_xml

LAUGHS = "\n".join(
    [
        '<?xml version="1.0"?>',
        "<!DOCTYPE x [",
        '<!ENTITY a0 "ha">',
        *(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10)),
        "]>",
    ]
)


def save(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "x.xml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, message: str) -> TableError:
    with pytest.raises(TableError, match=message) as caught:
        read_xml(path)
    return caught.value


@pytest.mark.parametrize("body", ["<x>&a9;</x>", '<x y="&a9;"/>', "<x/>"])
def test_billion_laughs_are_refused(tmp_path: Path, body: str) -> None:
    error = refused(save(tmp_path, LAUGHS + body), "declares XML entities")
    assert error.problems[0].line == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_external_files_are_not_read(tmp_path: Path, encoding: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the-secret")
    content = f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>\n<x>&s;</x>'
    if encoding == "utf-16":
        content = '<?xml version="1.0" encoding="utf-16"?>' + content
    error = refused(save(tmp_path, content.encode(encoding)), "declares XML entities")
    assert "the-secret" not in str(error)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            entity = f'<!DOCTYPE x [<!ENTITY s SYSTEM "{address}/entity">]><x>&s;</x>'
            refused(save(tmp_path, entity), "declares XML entities")
            parameter = f'<!DOCTYPE x [<!ENTITY % s SYSTEM "{address}/p"> %s;]><x/>'
            refused(save(tmp_path, parameter), "declares XML entities")
            outside = f'<!DOCTYPE x SYSTEM "{address}/dtd"><x>text</x>'
            assert flat_text(read_xml(save(tmp_path, outside))) == "text"
        finally:
            server.shutdown()
            thread.join()
    assert asked == []


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "the file is empty"),
        ("<x>\n<y>\n</x>", 3, "not well-formed"),
        ("no xml", 1, "not well-formed"),
        ('<?xml version="1.0" encoding="no-such"?>\n<x/>', 1, "not well-formed"),
        ("<x>&undeclared;</x>", 1, "not well-formed|entities"),
        ("<x>" * 300 + "</x>" * 300, 1, "not well-formed"),
        ("<x>\x01</x>", 1, "not well-formed"),
    ],
)
def test_faults(tmp_path: Path, content: str, line: int | None, message: str) -> None:
    assert refused(save(tmp_path, content), message).problems[0].line == line


def test_text_without_tags(tmp_path: Path) -> None:
    root = read_xml(
        save(
            tmp_path,
            "<x>\n<s>a<g>b<g>c</g></g><!-- no -->d<ph>no<sub>e<ph>no</ph>f</sub>no</ph>g<?no?>h"
            "<![CDATA[<i>]]></s></x>",
        )
    )
    segment = child(root, "s")
    assert segment is not None
    assert flat_text(segment, frozenset({"ph"})) == "abcdefgh<i>"
    assert line_of(segment) == 2


def test_children_are_of_the_same_namespace(tmp_path: Path) -> None:
    root = read_xml(save(tmp_path, '<x xmlns:o="urn:o"><a n="1"/><o:a/><b/><a n="2"/></x>'))
    assert [item.get("n") for item in children(root, "a")] == ["1", "2"]
    assert child(root, "c") is None


def test_lines_of_long_files(tmp_path: Path) -> None:
    root = read_xml(save(tmp_path, "<x>" + "\n<y>t</y>" * 70_000 + "</x>"))
    assert line_of(root[-1]) == 70_001
