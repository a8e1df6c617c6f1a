"""Files as a translation tool delivers them, before and after editing, made by a simulation.

Three engines, five translators, fifteen manuals. Every manual is translated by all engines and
edited from each by another translator. Some segments are untouched, split, locked, not confirmed,
emptied, from a translation memory; they hold numbers and tags. A table has the same work with the
time it took.
"""

from __future__ import annotations

import random
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

ENGINES = {"DeepL": 0.30, "Google": 0.34, "Custom": 0.12}
"""How likely a word of each engine's is to be edited."""
TRANSLATORS = ("Anna", "Ben", "Chloé", "Dana", "Emil")
TEXT = """
the pump valve must be closed before opening cover and pressure gauge shows safe value turn handle
slowly until oil flows check every seal for wear replace worn parts only with original
"""
WORDS = TEXT.split()
HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n<xliff xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/'
    '1.0" xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" sdl:version="1.0">\n'
    '<file original="{doc}" source-language="en-GB" target-language="{lang}"><body>\n'
)
END = "</body></file></xliff>\n"


def source_of(rng: random.Random, number: int) -> str:
    """A sentence, now and then with a number."""
    words = [rng.choice(WORDS) for _ in range(rng.randint(6, 18))]
    if number % 5 == 0:
        words.insert(2, f"{rng.randint(2, 90)}.5 mm")
    return " ".join(words).capitalize() + "."


def translated(source: str) -> str:
    """A language that nobody speaks, sentence by sentence alike in every engine."""
    return " ".join(word[::-1] if word.isalpha() else word for word in source[:-1].split()) + "."


def edited(rng: random.Random, text: str, share: float) -> str:
    """What a translator makes of it: a share of the words another."""
    words = text[:-1].split()
    return " ".join(w.upper() if rng.random() < share else w for w in words) + "."


def unit(seg: str, source: str, target: str, attributes: str, editor: str = "") -> str:
    """A unit of one segment, with a tag around its first word."""
    first, _, rest = target.partition(" ")
    inner = f'<g id="1">{escape(first)}</g> {escape(rest)}' if rest else escape(target)
    was = '<sdl:prev-origin origin="nmt" origin-system="Language Cloud"/>'
    was = was if 'origin="interactive"' in attributes else ""
    who = f'<sdl:value key="last_modified_by">{escape(editor)}</sdl:value>' if editor else ""
    return (
        f'<trans-unit id="u{seg}"><source>{escape(source)}</source><seg-source><mrk mtype="seg"'
        f' mid="{seg}">{escape(source)}</mrk></seg-source><target><mrk mtype="seg" mid="{seg}">'
        f'{inner}</mrk></target><sdl:seg-defs><sdl:seg id="{seg}" {attributes}>{was}{who}</sdl:seg>'
        "</sdl:seg-defs></trans-unit>\n"
    )


def write(path: Path, doc: str, units: list[str], lang: str = "de-DE") -> Path:
    """An SDLXLIFF file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = HEAD.replace("{doc}", doc).replace("{lang}", lang) + "".join(units) + END
    path.write_text(text, encoding="utf-8")
    return path


def deliver(root: Path, *, docs: int = 15, segments: int = 20, seed: int = 7) -> tuple[Path, Path]:
    """The folders ``before/ENGINE`` and ``after/ENGINE/TRANSLATOR`` with a file per manual.

    Beside them is ``jobs.xlsx``, a row per edited segment.
    """
    rng = random.Random(seed)
    rows: list[tuple[object, ...]] = []
    speed = {name: rng.uniform(0.8, 1.3) for name in TRANSLATORS}
    for number in range(docs):
        doc = f"manual-{number + 1:02d}.docx"
        sources = [source_of(rng, k) for k in range(segments)]
        for place, (engine, share) in enumerate(ENGINES.items()):
            editor = TRANSLATORS[(number + place * 2) % len(TRANSLATORS)]
            old, new, done = _versions(rng, sources, share * speed[editor], editor)
            rows += [(doc, *row, editor, engine) for row in done]
            write(root / "before" / engine / f"{doc}.sdlxliff", doc, old)
            write(root / "after" / engine / editor / f"{doc}.sdlxliff", doc, new)
    names = ["File", "Segment no.", "Source", "MT output", "Final translation", "Time (s)"]
    table = pl.DataFrame(rows, schema=[*names, "Translator", "Engine"], orient="row")
    table.write_excel(root / "jobs.xlsx")
    return root / "before", root / "after"


def _versions(
    rng: random.Random, sources: list[str], share: float, editor: str
) -> tuple[list[str], list[str], list[tuple[object, ...]]]:
    """The units before and after editing, and what was worked on with its seconds."""
    made = 'conf="Draft" origin="nmt" origin-system="Language Cloud"'
    old, new, done = [], [], []
    for k, source in enumerate(sources):
        seg, mt = str(k + 1), translated(source)
        worked = 'conf="Translated" origin="interactive"'
        if k == 3:  # from the memory, and locked
            memory = unit(seg, source, mt, 'conf="ApprovedTranslation" origin="tm" locked="true"')
            old.append(memory)
            new.append(memory)
        elif k == 6:  # split in two by the translator
            middle = source.index(" ", len(source) // 2)
            parts = source[:middle], source[middle + 1 :]
            targets = translated(parts[0] + "."), translated(parts[1])
            old.append(unit(seg, source, mt, made))
            for letter, part, target in zip("ab", parts, targets, strict=True):
                text = target[:-1] if letter == "a" else edited(rng, target, share)
                new.append(unit(f"{seg}_x0020_{letter}", part, text, worked, editor))
        elif k == 8:  # nobody came to it
            old.append(unit(seg, source, mt, made))
            new.append(unit(seg, source, mt, made))
        elif k == 10:  # emptied, not yet translated anew
            old.append(unit(seg, source, mt, made))
            new.append(unit(seg, source, "", 'conf="Draft" origin="interactive"', editor))
        else:
            text = mt if rng.random() < 0.3 else edited(rng, mt, share)
            words = sum(a != b for a, b in zip(mt.split(), text.split(), strict=True))
            seconds = round((0.4 * len(mt.split()) + 3 * words) * rng.uniform(0.6, 1.6), 1)
            done.append((k + 1, source, mt, text, seconds))
            old.append(unit(seg, source, mt, made))
            new.append(
                unit(
                    seg,
                    source,
                    text,
                    worked if text != mt else 'conf="Translated" origin="nmt"',
                    editor,
                )
            )
    return old, new, done
