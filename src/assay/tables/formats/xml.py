"""XML files from elsewhere, read without trusting them.

Nothing is fetched, no DTD is loaded, no entity is expanded, and sizes are bounded: a file that
declares entities of its own is refused, whatever they would stand for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from assay.tables.raw import read_bytes, refuse

Element = etree._Element
"""An element of a parsed file."""


def read_xml(path: Path) -> Element:
    """The root element of an XML file."""
    data = read_bytes(path)
    if not data.strip():
        raise refuse(str(path), "the file is empty; expected XML")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        if b"<!ENTITY" in data:
            raise refuse(str(path), _ENTITIES, line=_entity_line(data)) from None
        raise refuse(
            str(path), f"is not well-formed XML ({error.msg}); export it again", line=error.lineno
        ) from None
    _refuse_entities(root, data, str(path))
    return root


_ENTITIES = (
    "declares XML entities, which can stand for other files or for endless text;"
    " nothing of it is read; export the file without a DOCTYPE"
)


def _refuse_entities(root: Element, data: bytes, source: str) -> None:
    subset: Any = root.getroottree().docinfo.internalDTD
    declared = subset is not None and next(iter(subset.iterentities()), None) is not None
    if declared or next(root.iter(etree.Entity), None) is not None:
        raise refuse(source, _ENTITIES, line=_entity_line(data))


def _entity_line(data: bytes) -> int:
    place = data.find(b"<!ENTITY")
    return data.count(b"\n", 0, place) + 1 if place >= 0 else 1


def line_of(element: Element) -> int:
    """The line on which an element's start tag ends."""
    line: Any = element.sourceline
    return int(line or 1)


def local(element: Element) -> str:
    """The element's name without its namespace; empty for comments and instructions."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def children(element: Element, name: str) -> Iterator[Element]:
    """The children of this name in the element's own namespace."""
    space = etree.QName(element).namespace
    for item in element:
        if local(item) == name and etree.QName(item).namespace == space:
            yield item


def child(element: Element, name: str) -> Element | None:
    """The first such child, if there is one."""
    return next(children(element, name), None)


def flat_text(element: Element, code: frozenset[str] = frozenset()) -> str:
    """The text of an element with its inline tags taken out.

    Elements named in ``code`` hold markup of the original file, not text: of those only what
    stands in a ``sub`` element is kept.
    """
    return "".join(_texts(element, code, inside=False))


def _texts(element: Element, code: frozenset[str], *, inside: bool) -> Iterator[str]:
    if element.text and not inside:
        yield element.text
    for item in element:
        name = local(item)
        if name:
            yield from _texts(item, code, inside=name in code or (inside and name != "sub"))
        if item.tail and not inside:
            yield item.tail
