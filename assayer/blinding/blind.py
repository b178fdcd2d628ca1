"""Mask text that identifies an idea's authors before any model or search sees it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from assayer.blinding.acting_people import find_acting_people, find_people_near, find_possible_people, names_act_alone
from assayer.blinding.author_block import author_block
from assayer.blinding.caseless_people import find_caseless_people
from assayer.blinding.front_people import people_beside_marks, people_in_fields, people_of_front
from assayer.blinding.funding_mentions import funding_mentions
from assayer.blinding.identifiers import contacts
from assayer.blinding.identifying_sections import identifying_sections
from assayer.blinding.initials import find_initials
from assayer.blinding.institution_patterns import affiliations, names_institution
from assayer.blinding.labelled_lines import find_labelled_lines
from assayer.blinding.lone_surnames import find_lone_surnames
from assayer.blinding.mentions import find_mentions, find_small_words
from assayer.blinding.names import is_list_of_people, people_in, person_of
from assayer.blinding.people import find_introduced_people, find_likely_people
from assayer.blinding.people_phrases import find_people_after_phrases
from assayer.blinding.people_tables import find_people_in_brackets, find_people_in_tables
from assayer.blinding.person import Person
from assayer.blinding.personal_pages import personal_pages
from assayer.blinding.remaining_names import find_exact, known_names_remain, names_may_remain
from assayer.blinding.roles import roles
from assayer.blinding.self_cited_works import authors_of_own_works
from assayer.blinding.signatures import signatures
from assayer.blinding.spans import PLACEHOLDERS, MaskSpan, apply, clip_spans, map_offset, remove_overlaps
from assayer.errors import InputError
from assayer.ideas.documents import read_sections
from assayer.ideas.parsing import MIN_WORDS
from assayer.models import Blinding, Idea, MaskedText, Section, UnblindedWords
from assayer.text.headings import find_headings

RULES = 9
"""Version of the masking rules. Different versions can mask different words, so evaluations under different versions
count as different evaluations."""
_TITLE_PAGE = re.compile(r"\b[A-Z]{3,5} \d{3}\b|\b\d{1,2} [A-Z][a-z]{2,8} (?:19|20)\d\d|\(\d{5,10}\)")
"""Pattern for a course, date or number, which shows that a title includes the lines below it on a title page."""
_ABSTRACT = re.compile(r"^[#*_ ]{0,8}(?:Abstract|ABSTRACT|Summary|SUMMARY)\b", re.MULTILINE)
_MAX_FRONT_CHARS = 3_000
"""Maximum characters before an abstract that are front matter."""
_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힣]|[^\W_぀-ヿ㐀-鿿가-힣]++")
_PLACEHOLDER = re.compile("|".join(map(re.escape, PLACEHOLDERS.values())))


def blind_idea(idea: Idea) -> Idea:
    """Mask text that identifies the idea's authors, and record what was masked. The idea keeps the id of its original
    text. Raises InputError if masking leaves too little text to evaluate."""
    known = [*people_in_fields(idea.people_fields, idea.text), *authors_of_own_works(idea.text, idea.references)]
    spans, people = spans_to_mask(idea.text, idea.title, known)
    in_title = _spans_of_title(idea.title, people)
    masked = _apply_masks(idea, spans, in_title, people)
    record = Blinding(
        rules=RULES,
        masked=_list_masked(idea, spans, in_title),
        names_may_remain=names_may_remain(masked.title, masked.text, people) or names_act_alone(masked.text, people),
    )
    words = UnblindedWords(title=idea.title, text=idea.text)
    masked = masked.model_copy(update={"people_fields": (), "blinding": record, "unblinded": words})
    if spans:
        _check_words_left(masked, idea)
    return masked


def mask_more_names(idea: Idea, names: Sequence[str]) -> Idea:
    """Mask additional names, which a language model found in a masked idea. Full names are masked in all their forms.
    Afterwards, `names_may_remain` states only whether a masked person's family name remains."""
    if idea.blinding is None:
        raise ValueError("The idea has not been masked yet. Run the initial masking before masking additional names.")
    whole = [person for name in names if (person := person_of(name)) is not None]
    spans, in_title = (
        remove_overlaps([*find_exact(text, names), *find_mentions(text, whole)]) for text in (idea.text, idea.title)
    )
    masked = _apply_masks(idea, spans, in_title, whole)
    found = _list_masked(idea, spans, in_title)
    masked_names = (item.text for item in idea.blinding.masked if item.kind == "name")
    people = [*whole, *(person for name in masked_names for person in people_in(name))]
    record = idea.blinding.model_copy(
        update={
            "masked": (*idea.blinding.masked, *found),
            "names_may_remain": known_names_remain(masked.text, people),
            "checked_by_model": True,
        }
    )
    return masked.model_copy(update={"blinding": record})


def _apply_masks(idea: Idea, spans: Sequence[MaskSpan], in_title: Sequence[MaskSpan], people: Sequence[Person]) -> Idea:
    """Mask the spans in the idea's text and title, and the people in its other fields."""
    title, text = apply(idea.title, in_title), apply(idea.text, spans)
    sections = tuple(_mask_sections(idea, spans, people))
    return idea.model_copy(
        update={
            "title": title,
            "text": text,
            "sections": sections,
            "reading": idea.reading
            and idea.reading.model_copy(update={"title": title, "sections": read_sections(sections)}),
            # Publishers in a reference list look like institutions, so only people and contact details are masked.
            "reference_list": apply(idea.reference_list, remove_overlaps(_identity_spans(idea.reference_list, people))),
            "flags": tuple(flag.model_copy(update={"offset": map_offset(flag.offset, spans)}) for flag in idea.flags),
        }
    )


def _check_words_left(masked: Idea, original: Idea) -> None:
    """Raise InputError if masking removed more than half of the text and left too few words for an idea. Titles are not
    counted."""
    left = _count_words(masked.text, masked.title)
    if left < MIN_WORDS and 2 * left < _count_words(original.text, original.title):
        raise InputError(
            f"{masked.source} says little about the idea: blind mode left {left} word{'s' * (left != 1)} of its text.",
            f"Describe the problem, the method and the experiments in at least {MIN_WORDS} words (masked text does "
            "not count), or turn off blind mode (--no-blind, blind=false).",
        )


def _count_words(text: str, title: str) -> int:
    return len(_WORD.findall(_PLACEHOLDER.sub(" ", text.replace(title, " ", 1) if title else text)))


def spans_to_mask(text: str, title: str = "", known: Sequence[Person] = ()) -> tuple[list[MaskSpan], list[Person]]:
    """Find the spans that identify authors. Returns disjoint spans in text order, and the people in the text, including
    the `known` authors. The spans cover every mention of these people."""
    small = find_small_words(text)
    headings = find_headings(text)
    above = list(author_block(text, title, headings))
    block = [*above, *signatures(text)]
    labelled = list(find_labelled_lines(text, block_end=max((line.end for line in above), default=0)))
    introduced = [*find_introduced_people(text), *find_people_after_phrases(text)]
    introduced += [*people_beside_marks(text), *find_caseless_people(text)]
    introduced += [*find_people_in_tables(text), *find_people_in_brackets(text)]
    introduced += find_lone_surnames(text)
    possible = find_possible_people(text)
    introduced += find_acting_people(text, possible)
    sections = list(identifying_sections(text, headings, [item.span for item in introduced]))
    cut = [
        *(section.span for section in sections if section.whole),
        *(MaskSpan(line.start, line.end, line.kind, cut=True) for line in block),
        *(MaskSpan(line.start, line.end, line.kind, cut=True) for line in labelled),
    ]
    for section in sections:
        if not section.whole:
            introduced += find_likely_people(text, section.span.start, section.span.end)
    in_cuts = [section.span for section in sections if section.whole and section.span.kind != "funding"]
    people = [*known, *(person for line in block if line.kind == "name" for person in people_in(line.text))]
    people += [person for line in block for person in people_of_front(line.text, small)]
    people += [
        item for line in block if line.kind in ("affiliation", "email") for item in _people_before_place(line.text)
    ]
    people += [person for line in labelled for person in line.people]
    people += [item.person for span in in_cuts for item in find_likely_people(text, span.start, span.end)]
    abstract = _ABSTRACT.search(text, 0, _MAX_FRONT_CHARS)
    people += people_of_front(text[: abstract.start()], small) if abstract else []
    people += [introduced_person.person for introduced_person in find_introduced_people(title)]
    people += people_of_front(title, small) if _TITLE_PAGE.search(title) else []
    people = list(dict.fromkeys([*people, *(item.person for item in introduced)]))
    named = [*(item.span for item in introduced), *find_mentions(text, people)]
    named += [MaskSpan(line.start, line.end, "name") for line in labelled if line.people]
    near = list(find_people_near(text, possible, named))
    introduced += near
    people += [item.person for item in near]
    inline = _inline_spans(text, [item.span for item in introduced], people)
    return remove_overlaps([*cut, *inline]), people


def _inline_spans(text: str, named: Sequence[MaskSpan], people: Sequence[Person]) -> Iterator[MaskSpan]:
    """Yield the spans to replace within lines. `named` lists the spans that introduce people."""
    names = list(dict.fromkeys([*named, *find_mentions(text, people)]))
    yield from names
    yield from find_initials(text, people)
    yield from contacts(text)
    yield from personal_pages(text, people)
    yield from affiliations(text, names)
    yield from roles(text, names)
    yield from funding_mentions(text)


def _identity_spans(text: str, people: Sequence[Person]) -> Iterator[MaskSpan]:
    """Yield mentions of the people, contact details and personal pages."""
    yield from find_mentions(text, people)
    yield from contacts(text)
    yield from personal_pages(text, people)


def _people_before_place(line: str) -> list[Person]:
    """Return the people at the start of an affiliation line such as `Jane Roe, University of X` or `Jane Roe and Tom
    Poe (University of X)`; an empty list if there are none."""
    before = re.split("[(（]", line, maxsplit=1)[0]
    people = people_in(before)
    if not is_list_of_people(before, confirmed=before != line):
        people = people[:1]
    return [
        item
        for item in people
        if not names_institution(item.full)
        and (len(people) > 1 or line.lstrip("*_ ").find(item.family) < len(item.full) + 5)
    ]


def _spans_of_title(title: str, people: Sequence[Person]) -> list[MaskSpan]:
    return remove_overlaps(
        _inline_spans(title, [introduced_person.span for introduced_person in find_introduced_people(title)], people)
    )


def _mask_sections(idea: Idea, spans: Sequence[MaskSpan], people: Sequence[Person]) -> Iterator[Section]:
    """Mask the sections, and yield those that still have text. A section that does not occur verbatim in the text is
    masked separately."""
    place = 0
    for section in idea.sections:
        start = idea.text.find(section.text, place)
        if start >= 0:
            place = start + len(section.text)
            inside = clip_spans(spans, start, place)
        else:
            inside = remove_overlaps([*spans_to_mask(section.text)[0], *find_mentions(section.text, people)])
        if text := apply(section.text, inside):
            yield Section(title=apply(section.title, _spans_of_title(section.title, people)), text=text)


def _list_masked(idea: Idea, spans: Sequence[MaskSpan], in_title: Sequence[MaskSpan]) -> tuple[MaskedText, ...]:
    """List the masked texts in full, each on one line, with its number of occurrences."""
    found = Counter((span.kind, " ".join(idea.title[span.start : span.end].split())) for span in in_title)
    fields = (" ".join(field.split()) for field in idea.people_fields)
    found.update(("name", field) for field in fields if people_in_fields([field], idea.text))
    found.update((span.kind, " ".join(idea.text[span.start : span.end].split())) for span in spans)
    return tuple(MaskedText(kind=kind, text=text, occurrences=times) for (kind, text), times in found.items() if text)
