"""Workbooks written by hand, as no program would write them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

CONTENT_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/{part}"
 ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>
</Types>"""
RELATION = """<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}
</Relationships>"""
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def archive(members: dict[str, str | Iterable[str]]) -> bytes:
    """A zip file; a member may come in pieces."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
        for name, content in members.items():
            with file.open(name, "w", force_zip64=True) as member:
                for piece in [content] if isinstance(content, str) else content:
                    member.write(piece.encode())
    return buffer.getvalue()


def workbook(sheet: str | Iterable[str], strings: str = "") -> bytes:
    """A workbook with one sheet, given as the content of its sheetData."""
    pieces = [sheet] if isinstance(sheet, str) else sheet
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

    def whole() -> Iterable[str]:
        yield f"<worksheet {space}><sheetData>"
        yield from pieces
        yield "</sheetData></worksheet>"

    relations = [
        f'<Relationship Id="r{i}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(
            [("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")]
        )
    ]
    book = f'<Relationship Id="r0" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    return archive({
        "[Content_Types].xml": CONTENT_TYPES.format(
            part="xl/workbook.xml", kind="spreadsheetml.sheet.main"
        ),
        "_rels/.rels": RELATION.format(book),
        "xl/_rels/workbook.xml.rels": RELATION.format("".join(relations)),
        "xl/workbook.xml": f'<workbook {space} xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="s" sheetId="1" r:id="r0"/></sheets></workbook>',
        "xl/sharedStrings.xml": f"<sst {space}>{strings}</sst>",
        "xl/worksheets/sheet1.xml": whole(),
    })  # fmt: skip


def cell(place: str, text: str = "system") -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def changed(data: bytes, old: str, new: str) -> bytes:
    """The workbook with this text of its sheet replaced."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for name in archive.namelist():
            text = archive.read(name).decode()
            copy.writestr(name, text.replace(old, new, 1) if "sheet1" in name else text)
    return out.getvalue()
