"""Forms: raters' answers to questions about themselves and the work."""

from __future__ import annotations

from assay.campaign.protocols.reading import Reader
from assay.campaign.records import Answer, Shown


def check_form(answers: object, shown: Shown) -> tuple[Answer, ...]:
    """Read an answer to every required question, or raise with every fault and its path."""
    reader, found = Reader(), dict[int, Answer]()
    questions, ((code,),) = shown.questions, shown.screens
    for number, entry in enumerate(reader.items(answers, "answers", len(questions))):
        path = f"answers[{number}]"
        given = reader.mapping(entry, path, ("code", "place", "comment")) or {}
        place = reader.whole(given.get("place"), f"{path}.place", 0, len(questions) - 1)
        said = reader.text(given.get("comment"), f"{path}.comment", filled=True)
        if place is None or said is None:
            continue
        if place in found:
            reader.fault(path, f"answers question {place} again")
        if questions[place].answers:
            reader.choice(said, f"{path}.comment", questions[place].answers)
        found[place] = Answer(code=code, place=place, comment=said)
    for place, question in enumerate(questions):
        if place not in found and not question.optional and not reader.faults:
            reader.fault("answers", f"question {place} has no answer")
    reader.stop()
    return tuple(found.values())
