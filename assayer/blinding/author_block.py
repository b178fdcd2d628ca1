"""Find the author block: lines between title and text that name the authors, their institutions and contact details."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assayer.blinding.block_lines import KINDS, BlockLine, LineSort, classify_line, is_address, is_prose
from assayer.blinding.caseless_names import is_caseless
from assayer.blinding.front_people import people_of_front
from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import find_small_words, has_english_word, has_only_words, has_small_word, may_be_name
from assayer.blinding.names import (
    LOWER,
    OPENER,
    has_given_name,
    is_list_of_people,
    people_in,
    people_of_one_form,
    person_of,
)
from assayer.text.headings import Heading
from assayer.text.section_titles import is_known_title

_MAX_LINES = 60
_MAX_CHARS = 5_000
_MAX_LINE_CHARS = 400
_BY = re.compile(r"^(?:by|authors?|submitted by|written by|presented by|prepared by)\b:?\s{1,3}", re.I)
_BY_ELSEWHERE = re.compile(
    r"^(?:von|par|por|di|door|av|af|przez|od|oleh|от|від|από|tarafından) (?-i:(?=[^\W\d_a-z]))", re.I
)
"""Pattern for `by` in other languages, some of which also begin names."""
_DATE = re.compile(
    r"^(?:\d{1,2}[ ./-])?(?:January|February|March|April|May|June|July|August|September|October|November|"
    r"December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\.?\b[\d ,.]{2,12}$|^\d{4}(?:-\d\d){0,2}$"
)


FRONT_TITLES = ("Front matter", "Author", "Authors", "Author note", "Author Note", "Author notes")
"""Headings under which an author block can stand. `Front matter` stands for the text before a PDF's first heading."""
_ABSTRACT = re.compile(r"(?<!\w)(?:Abstract|ABSTRACT|Summary|SUMMARY)(?:\s?[—–:.-]|(?= [A-Z]))")
_SMALL = re.compile(rf"(?<![\w.@/-])[{LOWER}][{LOWER}'’-]+(?![\w.@])")
_JOINS = frozenset(["and", "of", "the", "for", "in", "at", "de", "la", "du", "des", "to", "und", "für"])
_VERSION = re.compile(
    r"[\s*†‡∗(]+(?:(?:First|This|Draft|Updated|Version|Revised):? ?){0,2}\(?(?:[A-Z][a-z]{2,8} )?\d[\d/., ()-]*"
    r"(?:\(?(?:Updated|Revised)[\d/., -]*\))?$"
)
"""Pattern for a date or version after a name."""
_MARKED_WORD = re.compile(r"[^\W\d_][\^\d*†‡∗¹²³]")
_MAX_LOWER_CASE = 0.2
"""Maximum share of lower-case words in a front matter line; in sentences, about two thirds are lower-case."""


def is_front_matter(line: str, small_words: frozenset[str]) -> bool:
    """Return whether a line consists of names, institutions and addresses rather than sentences, however long it is."""
    words = len(line.split())
    small = sum(word not in _JOINS for word in _SMALL.findall(line))
    named = CONTACT.search(line) or names_institution(line) or people_of_front(line, small_words)
    return words > 1 and small <= _MAX_LOWER_CASE * words and bool(named)


def _find_names_before_prose(line: str, small: frozenset[str]) -> str:
    """Return the part of a line before its first sentence if it contains names with footnote marks and institutions, as
    in a PDF in which the abstract directly follows the authors. Otherwise return an empty string."""
    word = next((match for match in _SMALL.finditer(line) if match[0] not in _JOINS), None)
    run = line[: word.start()] if word else line
    return run if _MARKED_WORD.search(run) and is_front_matter(run, small) else ""


class _HeadLine(NamedTuple):
    start: int
    end: int
    text: str
    sort: LineSort


def author_block(text: str, title: str, headings: Sequence[Heading]) -> Iterator[BlockLine]:
    """Yield the lines in the author block. A line of capitalised words counts as names only with further evidence: a
    known first name, a footnote mark, or a nearby institution, role or email address."""
    lines = _find_head_lines(text, title, headings)
    small = find_small_words(text)
    sure = [number for number, line in enumerate(lines) if line.sort in ("place", "reached", "role")]
    for number, line in enumerate(lines):
        sort = line.sort
        near = any(0 <= other - number <= 4 or 0 < number - other <= 2 for other in sure)
        if sort == "unclear":
            bare = _BY.sub("", line.text)
            labelled = bare != line.text
            if (elsewhere := _BY_ELSEWHERE.sub("", line.text)) != line.text and _are_names_only(elsewhere, small):
                bare, labelled = elsewhere, True
            listed = people_of_one_form(bare)
            if (
                is_list_of_people(bare, confirmed=near or labelled)
                or (listed and not any(has_small_word(person, small) for person in listed))
                or (number <= 2 and _are_names_only(line.text, small))
            ):
                sort = "people"
            elif number and lines[number - 1].sort in ("place", "address") and is_address(line.text):
                sort = "address"
                lines[number] = line._replace(sort="address")
        if sort == "unclear" and is_front_matter(line.text, small) and _begins_with_people(line.text, small):
            sort = "front"
        if sort != "unclear":
            bare = _BY_ELSEWHERE.sub("", line.text) if sort == "people" else line.text
            yield BlockLine(line.start, line.end, KINDS[sort], _BY.sub("", bare))


def _begins_with_people(line: str, small: frozenset[str]) -> bool:
    """Return whether a line names several people, or begins with a known first name."""
    people = people_of_front(line, small)
    return len(people) > 1 or any(has_given_name(item) and line.startswith(item.full) for item in people)


def _are_names_only(line: str, small: frozenset[str]) -> bool:
    """Return whether a line under the title looks like one name, or like a list of names. No word in a name, except
    particles, may also occur in lower case in the text; in a list, also no English word may occur."""
    person = person_of(_VERSION.sub("", line))
    if person is not None and not is_caseless(person):
        is_term = has_english_word(person) if line.isupper() else has_only_words(person, small)
        is_term = is_term or OPENER.fullmatch(line.split(maxsplit=1)[0]) is not None
        return bool(person.given) and not has_small_word(person, small) and (has_given_name(person) or not is_term)
    people = people_in(line)
    return is_list_of_people(line, confirmed=True) and all(may_be_name(item, small) for item in people)


def _find_head_lines(text: str, title: str, headings: Sequence[Heading]) -> list[_HeadLine]:
    """Return the lines before the first body heading or sentence, without blank lines and the title."""
    small = find_small_words(text)
    stop = _find_first_section(text, title, headings)
    words_of_title = _normalise_words(title.rstrip("…"))
    found: list[_HeadLine] = []
    place = 0
    for raw in text[: min(stop, _MAX_CHARS)].split("\n")[:_MAX_LINES]:
        start, end = place, min(place + len(raw) + 1, len(text))
        place += len(raw) + 1
        line = raw.strip(" \t*_#>|")
        if not line or _DATE.match(line) or line in FRONT_TITLES:
            continue
        if (abstract := _ABSTRACT.search(line)) and is_front_matter(line[: abstract.start()], small):
            end = start + raw.index(line) + abstract.start()
            found.append(_HeadLine(start, end, line[: abstract.start()], "front"))
            break
        if is_front_matter(line, small) and (len(line) > _MAX_LINE_CHARS or is_prose(line)):
            found.append(_HeadLine(start, end, line, "front"))
            continue
        if (
            words_of_title
            and _normalise_words(_TITLE_LABEL.sub("", line))
            and _normalise_words(_TITLE_LABEL.sub("", line)) in words_of_title
            and not found
        ):
            continue
        if len(line) > _MAX_LINE_CHARS or is_prose(line):
            if run := _find_names_before_prose(line, small):
                found.append(_HeadLine(start, start + raw.index(line) + len(run), run, "front"))
            break
        found.append(_HeadLine(start, end, line, classify_line(line)))
    return found


_TITLE_LABEL = re.compile(r"^(?:(?:research )?(?:plan|proposal|idea|project|title)(?: title)?\s*[:–—-]\s*)", re.I)


def _find_first_section(text: str, title: str, headings: Sequence[Heading]) -> int:
    own = _normalise_words(title)
    for heading in headings:
        if is_known_title(heading.title):
            return heading.start
        words = _normalise_words(heading.title)
        if heading.title in FRONT_TITLES or heading.start == 0:
            continue
        if own and (words in own or own in words):
            continue
        if (
            heading.level <= 6
            and classify_line(heading.title) == "unclear"
            and not is_list_of_people(heading.title, confirmed=False)
        ):
            return heading.start
    return len(text)


def _normalise_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
