"""Takes out of an idea what says whose it is, before any model or search sees it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from assayer.blinding.author_block import author_block
from assayer.blinding.identifiers import contacts, fundings
from assayer.blinding.identifying_sections import identifying_sections, references_start
from assayer.blinding.institution_patterns import affiliations, names_institution
from assayer.blinding.labelled_lines import labelled_lines
from assayer.blinding.names import Person, people_in
from assayer.blinding.people import introduced_people, mentions, roles
from assayer.blinding.spans import MaskSpan, apply, disjoint, moved, moved_place
from assayer.models import Blinding, Idea, MaskedText, Section, UnblindedWords
from assayer.text.headings import find_headings

__all__ = ["RULES", "blinded", "spans_to_mask"]

RULES = 1
"""Version of the rules: others may mask other words, so that an evaluation under them is another one."""
_LONGEST_SHOWN = 300


def blinded(idea: Idea) -> Idea:
    """The idea as models may see it, with a record of what was masked. Its id stays that of the words it came with."""
    spans, people = spans_to_mask(idea.text, idea.title)
    in_title = _spans_of_title(idea.title, people)
    text = apply(idea.text, spans)
    return idea.model_copy(
        update={
            "title": apply(idea.title, in_title) or idea.title,
            "text": text or "[everything was masked]",
            "sections": tuple(_sections(idea, spans, people)),
            "flags": tuple(flag.model_copy(update={"offset": moved_place(flag.offset, spans)}) for flag in idea.flags),
            "blinding": Blinding(rules=RULES, masked=_masked(idea, spans, in_title)),
            "unblinded": UnblindedWords(title=idea.title, text=idea.text),
        }
    )


def spans_to_mask(text: str, title: str = "") -> tuple[list[MaskSpan], list[Person]]:
    """Disjoint and in order; and the persons that they name, who are masked wherever else they occur."""
    headings = find_headings(text)
    block = list(author_block(text, title, headings))
    labelled = list(labelled_lines(text))
    cut = [
        *identifying_sections(text, headings),
        *(MaskSpan(line.start, line.end, line.kind, cut=True) for line in block),
        *(MaskSpan(line.start, line.end, line.kind, cut=True) for line in labelled),
    ]
    people = [one for line in block if line.kind == "name" for one in people_in(line.text)]
    people += [one for line in block if line.kind in ("affiliation", "email") for one in _heading_person(line.text)]
    people += [one for line in labelled if line.kind == "name" for one in people_in(line.value)]
    introduced = list(introduced_people(text))
    people += [one.person for one in introduced]
    named = [*(one.span for one in introduced), *mentions(text, people)]
    body = references_start(text)
    inline = [
        *contacts(text),
        *named,
        *(span for span in affiliations(text, named) if span.start < body),
        *(span for span in roles(text, named) if span.start < body),
        *(span for span in fundings(text) if span.start < body),
    ]
    return disjoint([*cut, *inline]), people


def _heading_person(line: str) -> list[Person]:
    """Who stands at the head of a line of affiliations: `Jane Roe, University of X`."""
    first = people_in(line.split("(", 1)[0])[:1]
    return [
        one
        for one in first
        if not names_institution(one.full) and line.lstrip("*_ ").find(one.family) < len(one.full) + 5
    ]


def _spans_of_title(title: str, people: Sequence[Person]) -> list[MaskSpan]:
    return disjoint([*contacts(title), *mentions(title, people)])


def _sections(idea: Idea, spans: Sequence[MaskSpan], people: Sequence[Person]) -> Iterator[Section]:
    """Those with text left. A section that does not stand in the text word for word is masked on its own."""
    place = 0
    for section in idea.sections:
        start = idea.text.find(section.text, place)
        if start >= 0:
            place = start + len(section.text)
            inside = moved(spans, start, place)
        else:
            inside = disjoint([*spans_to_mask(section.text)[0], *mentions(section.text, people)])
        if text := apply(section.text, inside):
            yield Section(
                title=apply(section.title, _spans_of_title(section.title, people)) or section.title, text=text
            )


def _masked(idea: Idea, spans: Sequence[MaskSpan], in_title: Sequence[MaskSpan]) -> tuple[MaskedText, ...]:
    found = Counter((span.kind, _shown(idea.title[span.start : span.end])) for span in in_title)
    found.update((span.kind, _shown(idea.text[span.start : span.end])) for span in spans)
    return tuple(MaskedText(kind=kind, text=text, times=times) for (kind, text), times in found.items() if text)


def _shown(text: str) -> str:
    """On one line, its beginning where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SHOWN else f"{line[: _LONGEST_SHOWN - 1]}…"
