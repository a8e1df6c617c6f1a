"""A report: sections in the order in which a reader wants them."""

from __future__ import annotations

from dataclasses import dataclass

from assay.views.section import Section, Stage, some

STAGES: tuple[Stage, ...] = (
    "plan", "sample", "kits", "collect", "estimate", "rank", "effort", "audit", "research",
)  # fmt: skip
"""The order of the sections on a page."""

FIRST = ("estimates", "ranking", "effort", "audit", "campaign-results")
"""Whose answer a page begins with: the first of these that there is."""


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report; ``facts`` say what campaign it is about."""

    title: str
    sections: tuple[Section, ...]
    version: str
    facts: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[Section, ...]:
        """What a page begins with: the answers of one kind, one for each test set."""
        own = [part for part in self.sections if not part.folded] or list(self.sections)
        own = [part for part in own if part.question] or own[:1]
        kinds = [part.name for part in own]
        first = next((name for name in FIRST if name in kinds), kinds[0])
        return tuple(part for part in own if part.name == first)

    @property
    def others(self) -> tuple[Section, ...]:
        """What follows, folded: other answers, then how they came about."""
        rest = [part for part in self.sections if part not in self.answers]
        return tuple(sorted(rest, key=lambda part: not part.question or part.folded))

    @property
    def about(self) -> tuple[str, ...]:
        """The campaign in a few words each."""
        first = self.answers
        told = first if len(first) == 1 else ()
        others = [part for part in self.others if not part.question]
        return tuple(dict.fromkeys(
            fact for part in (self, *told, *others) for fact in part.facts
        ))  # fmt: skip

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, by the answers that a page begins with, each thing once."""
        return tuple(dict.fromkeys(line for part in self.answers for line in part.next))

    @property
    def methods(self) -> str:
        """The paragraph for a paper."""
        order = sorted(self.sections, key=lambda part: not part.question)
        said = dict.fromkeys(part.methods for part in order if part.methods)
        versions = sorted({part.version or self.version for part in self.sections})
        each = ", as the signatures say" if len(versions) > 1 else ""
        computed = f"All numbers were computed with Assay {some(versions)}{each}."
        return " ".join([*said, computed])

    @property
    def sources(self) -> tuple[str, ...]:
        """The references of the paragraph, each once."""
        return tuple(dict.fromkeys(key for part in self.sections for key in part.sources))


def file_stem(section: str, block: str) -> str:
    """What the file of a block is called.

    >>> file_stem("effort", "effort-costs"), file_stem("effort", "effort"), file_stem("a", "b")
    ('effort-costs', 'effort', 'a-b')
    """
    return block if f"{block}-".startswith(f"{section}-") else f"{section}-{block}"
