"""Takes out of an idea what says whose it is, before any model or search sees it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from assayer.blinding.author_block import author_block
from assayer.blinding.fundings import fundings
from assayer.blinding.identifiers import contacts
from assayer.blinding.identifying_sections import identifying_sections, reference_lists
from assayer.blinding.institution_patterns import affiliations, names_institution
from assayer.blinding.labelled_lines import labelled_lines
from assayer.blinding.mentions import mentions
from assayer.blinding.names import Person, people_in
from assayer.blinding.people import introduced_people, people_with_known_names
from assayer.blinding.personal_pages import personal_pages
from assayer.blinding.roles import roles
from assayer.blinding.signatures import signatures
from assayer.blinding.spans import PLACEHOLDERS, MaskSpan, apply, disjoint, moved, moved_place
from assayer.errors import InputError
from assayer.ideas.parsing import FEWEST_WORDS
from assayer.models import Blinding, Idea, MaskedText, Section, UnblindedWords
from assayer.text.headings import find_headings

__all__ = ["RULES", "blinded", "spans_to_mask"]

RULES = 2
"""Version of the rules: others may mask other words, so that an evaluation under them is another one."""
_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힣]|[^\W_぀-ヿ㐀-鿿가-힣]++")
_PLACEHOLDER = re.compile("|".join(map(re.escape, PLACEHOLDERS.values())))


def blinded(idea: Idea) -> Idea:
    """The idea as models may see it, with a record of what was masked. Its id stays that of the words it came with.
    Raises InputError when masking leaves too little to be judged."""
    spans, people = spans_to_mask(idea.text, idea.title)
    in_title = _spans_of_title(idea.title, people)
    masked = idea.model_copy(
        update={
            "title": apply(idea.title, in_title),
            "text": apply(idea.text, spans),
            "sections": tuple(_sections(idea, spans, people)),
            "flags": tuple(flag.model_copy(update={"offset": moved_place(flag.offset, spans)}) for flag in idea.flags),
            "blinding": Blinding(rules=RULES, masked=_masked(idea, spans, in_title)),
            "unblinded": UnblindedWords(title=idea.title, text=idea.text),
        }
    )
    if spans:
        _check_words_left(masked, idea)
    return masked


def _check_words_left(masked: Idea, came_in: Idea) -> None:
    """Raises InputError for a text of which less than half and too few words to be an idea are left, titles aside."""
    left = _count_words(masked.text, masked.title)
    if left < FEWEST_WORDS and 2 * left < _count_words(came_in.text, came_in.title):
        raise InputError(
            f"{masked.source} says little but whose it is: blind mode left {left} word{'s' * (left != 1)} of its text.",
            f"Describe problem, method and experiments in at least {FEWEST_WORDS} words beside those on people, "
            "or have it judged without blind mode (--no-blind, blind=false).",
        )


def _count_words(text: str, title: str) -> int:
    return len(_WORD.findall(_PLACEHOLDER.sub(" ", text.replace(title, " ", 1) if title else text)))


def spans_to_mask(text: str, title: str = "") -> tuple[list[MaskSpan], list[Person]]:
    """Disjoint and in order; and the persons that they name, who are masked wherever else they occur."""
    headings = find_headings(text)
    above = list(author_block(text, title, headings))
    block = [*above, *signatures(text)]
    labelled = list(labelled_lines(text, block_end=max((line.end for line in above), default=0)))
    introduced = list(introduced_people(text))
    sections = list(identifying_sections(text, headings, [one.span for one in introduced]))
    cut = [
        *(section.span for section in sections if section.whole),
        *(MaskSpan(line.start, line.end, line.kind, cut=True) for line in block),
        *(MaskSpan(line.start, line.end, line.kind, cut=True) for line in labelled),
    ]
    for section in sections:
        if not section.whole:
            introduced += people_with_known_names(text, section.span.start, section.span.end)
    people = [one for line in block if line.kind == "name" for one in people_in(line.text)]
    people += [one for line in block if line.kind in ("affiliation", "email") for one in _heading_person(line.text)]
    people += [one for line in labelled if line.kind == "name" for one in people_in(line.value.split("(", 1)[0])]
    people += [one.person for one in introduced_people(title)]
    people += [one.person for one in introduced]
    inline = _inline(text, [one.span for one in introduced], people, reference_lists(text, headings))
    return disjoint([*cut, *inline]), people


def _inline(
    text: str, named: Sequence[MaskSpan], people: Sequence[Person], reference_lists: Sequence[tuple[int, int]] = ()
) -> Iterator[MaskSpan]:
    """What is replaced within lines. `named`: where the text brings people in. In lists of references only people and
    addresses are masked, as publishers are called like universities."""
    names = [*named, *mentions(text, people)]
    yield from names
    yield from contacts(text)
    yield from personal_pages(text, people)
    for span in (*affiliations(text, names), *roles(text, names), *fundings(text)):
        if not any(start <= span.start < end for start, end in reference_lists):
            yield span


def _heading_person(line: str) -> list[Person]:
    """Who stands at the head of a line of affiliations: `Jane Roe, University of X`."""
    first = people_in(line.split("(", 1)[0])[:1]
    return [
        one
        for one in first
        if not names_institution(one.full) and line.lstrip("*_ ").find(one.family) < len(one.full) + 5
    ]


def _spans_of_title(title: str, people: Sequence[Person]) -> list[MaskSpan]:
    return disjoint(_inline(title, [one.span for one in introduced_people(title)], people))


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
            yield Section(title=apply(section.title, _spans_of_title(section.title, people)), text=text)


def _masked(idea: Idea, spans: Sequence[MaskSpan], in_title: Sequence[MaskSpan]) -> tuple[MaskedText, ...]:
    """In full, each on one line."""
    found = Counter((span.kind, " ".join(idea.title[span.start : span.end].split())) for span in in_title)
    found.update((span.kind, " ".join(idea.text[span.start : span.end].split())) for span in spans)
    return tuple(MaskedText(kind=kind, text=text, times=times) for (kind, text), times in found.items() if text)
