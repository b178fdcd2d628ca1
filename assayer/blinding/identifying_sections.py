"""Find sections about people rather than the idea: acknowledgements, biographies, the team, the authors' funding."""

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from assayer.blinding.block_lines import classify_line, is_prose
from assayer.blinding.funding_mentions import funding_mentions
from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import find_small_words, may_be_name
from assayer.blinding.names import NAME, ROLE_WORDS, has_given_name, has_titled_person, people_in, person_of
from assayer.blinding.people import find_likely_people
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import load_groups
from assayer.models import MaskedKind
from assayer.text.headings import Heading

_TITLES = load_groups("personal_section_titles.txt")
"""Patterns for titles in other languages, keyed by the kind of section."""
_THANKS = (
    r"acknowledge?ments?|thanks|conflicts? of interests?|competing interests?|declaration of interests?|"
    rf"{_TITLES['thanks']}"
)
_PAID = (
    r"(?:funding(?: (?:statement|sources?|information|acknowledge?ments?))?|financial support|"
    r"results from prior (?:nsf )?support|prior (?:nsf )?support|current and pending support)"
)
_LIFE = (
    r"(?:short |author |investigator )?(?:biograph(?:y|ies)|biographical sketch(?:es)?|bio(?:s|"
    r"sketch(?:es)?)?)|(?:short )?curriculum vitae|"
    r"about the (?:authors?|team|applicants?|investigators?)|author (?:contributions?|information)|"
    r"credit authorship contribution statement|(?:(?:own|our|selected|key|recent|relevant|related|five|ten|most|"
    r"important|"
    r"main|the) ){0,3}publications? (?:of|by|from) (?:the |our )?(?:applicants?|pis?|principal investigators?|team|"
    rf"authors?|investigators?|group|consortium)|{_TITLES['life']}"
)
_AUTHORS = r"(?:authors?(?: and affiliations)?|affiliations?)"
_TEAM = (
    r"(?:the |our |research |project |core )?team(?: members?| and expertise| qualifications?| description|"
    r" composition)?|"
    r"(?:key|senior|project) personnel|personnel|(?:principal )?investigators?(?: and qualifications?|"
    r" qualifications?)?|"
    r"qualifications?(?: of the (?:applicants?|team|investigators?|pi))?|(?:(?:the )?(?:applicant|pi|team|investigator)"
    r"['’]?s?['’]? (?:track record|profile|background)|track record)|"
    r"(?:applicants?|own) publications?|list of own publications|(?:student )?supervision(?: and mentoring)?|mentoring|"
    r"(?:former |current |past )?(?:doctoral|graduate|ph\.?d\.?) students|referees|"
    rf"{_TITLES['team']}"
)
_CONTACT = (
    r"(?:short )?(?:cvs?|curricul(?:um|a) vitae)"
    r"(?: of (?:the |our )?(?:applicants?|pis?|team|authors?|investigators?))?|"
    rf"contact(?: details| information)?|{_TITLES['contact']}"
)
_AROUND = (
    r"(?:(?:host|research) (?:institution|environment)|collaborat(?:ors?|ions?)|partners?|consortium|"
    r"facilities(?:,? equipment,? and (?:other )?resources)?)"
)


class _Sort(NamedTuple):
    pattern: str
    kind: MaskedKind
    max_chars: int = 8_000
    """Maximum number of characters in a section. A longer section is cut at a paragraph break, because the next heading
    was evidently not recognised."""


_SORTS = {
    "thanks": _Sort(_THANKS, "acknowledgement", 2_500),
    "paid": _Sort(_PAID, "funding", 3_000),
    "life": _Sort(_LIFE, "biography"),
    "authors": _Sort(_AUTHORS, "biography"),
    "team": _Sort(_TEAM, "biography"),
    "contact": _Sort(_CONTACT, "biography"),
    "around": _Sort(_AROUND, "biography"),
}
_TITLE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]{1,3})?(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}[.)]?|[IVX]{1,5}[.)]|"
    r"[A-H][.)])[ \t]{1,3})?(?P<bold>\*{1,2}|_{1,2})?"
    rf"(?:{'|'.join(f'(?P<{group}>{sort.pattern})' for group, sort in _SORTS.items())})"
    r"[ \t]{0,2}(?:\*{1,2}|_{1,2})?[ \t]{0,2}(?P<mark>[:.–—-])?(?:\*{1,2}|_{1,2})?[ \t]{0,3}(?P<rest>[^\n]*)$",
    re.I | re.M,
)
_MARKED_TITLE = re.compile(r"[ \t]*(?:#|\*\*|__|\d|[IVX]{1,5}[.)]|[A-H][.)])")
_NAME = re.compile(NAME)
_LINE_OF_NAME = re.compile(
    rf"^[ \t]{{0,4}}(?:[-*•]|\d{{1,2}}[.)])?[ \t]{{0,3}}(?:\*\*|__)?(?P<name>{NAME})(?:\*\*|__)?"
    r"(?=[ \t]*(?:$|[(,:–—-]))",
    re.M,
)
_ACTING = re.compile(
    rf"(?:^|(?<=[.!?] )|(?<=\*\*)|(?<=__))(?:[-*•] )?(?P<name>{NAME})(?:\*\*|__)?,? "
    r"(?:is|was|has|holds|runs|leads|heads|works|studies|studied|will|brings|joined|received|obtained|directs|manages)\b",
    re.M,
)
"""Pattern for a name at the beginning of a sentence about a person."""
_LONE_LINE = re.compile(r"(?<=\n\n)(?P<line>[^\W\d_#|>*-][^\n\d|@:：]{1,60}[^\s.,;:!?。，；：！？、])(?=\n)")
_MAX_HEADING_WORDS, _MAX_HEADING_CHARS = 6, 60
_MAX_CONTACT_CHARS = 400
_CV_LINE = re.compile(
    r"^[^\n]{0,20}\b(?:19|20)\d\d\b[^\n]{0,80}\b(?:Ph\.?D|[BM]\.?Sc|[BM]\.?A\b|Master|Bachelor|Diploma|Post-?doc|"
    r"Professor|Lecturer|Fellow|Award|Prize)",
    re.M,
)
"""Pattern for a line in a curriculum vitae, such as `2012 PhD in physics`."""
_INLINE_TITLE = re.compile(r"[A-Z][a-z]+(?: [a-z]+){0,3}\. [A-Z]")
"""Pattern for a title at the beginning of a paragraph: `Travel. We will …`."""
_HEADING_LIKE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]|\*\*[^*\n]{2,80}\*\*:?[ \t]*$|\d{1,2}(?:\.\d{1,2}){0,2}[.)]?[ \t]+[A-Z])", re.M
)


class IdentifyingSection(NamedTuple):
    span: MaskSpan
    """Span of the section, including its heading."""
    whole: bool
    """True to remove the whole section. If false, only the people named in it are masked, because the rest may be about
    the work."""


def identifying_sections(
    text: str, headings: Sequence[Heading], named: Sequence[MaskSpan]
) -> Iterator[IdentifyingSection]:
    """Yield the sections that identify people. A section that could be about the work counts only if it names people.
    `named` lists the spans that introduce people."""
    people = sorted(span.start for span in named)
    listed = set(_find_lines_of_names(text))
    starts = sorted(
        {heading.start for heading in headings if heading.level <= 11 and heading.start not in listed}
        | {m.start() for m in _HEADING_LIKE.finditer(text) if m.start() not in listed}
    )
    starts_unmarked = sorted({*starts, *_find_lone_lines(text, listed)})
    place = 0
    for match in _TITLE.finditer(text):
        if match.start() < place:
            continue
        group = next(name for name in _SORTS if match[name])
        rest = match["rest"].strip(" *_")
        if rest and not _begins_on_title_line(match, group, rest):
            continue
        marked = _MARKED_TITLE.match(match[0])
        following = starts if marked else starts_unmarked
        end = text.find("\n\n", match.end()) if rest else _section_end(text, match, following, _SORTS[group].max_chars)
        end = len(text) if end < 0 else end
        if group in ("authors", "team", "contact"):
            end = _find_first_prose(text, match.end(), end, people, after_list=group == "team" and marked is not None)
        has_people = bisect_left(people, end) > bisect_left(people, match.end())
        if end <= match.start() or not _is_about_people(group, text[match.end() : end], has_people):
            continue
        place = end
        yield IdentifyingSection(MaskSpan(match.start(), end, _SORTS[group].kind, cut=True), group != "around")


def _is_about_people(group: str, text: str, has_people: bool) -> bool:
    match group:
        case "thanks" | "life" | "authors":
            return True
        case "paid":
            return _names_people(text) or next(funding_mentions(text), None) is not None
        case "contact":
            short = len(text) <= _MAX_CONTACT_CHARS and _names_people(text)
            return short or _CV_LINE.search(text) is not None or CONTACT.search(text) is not None
        case "team":
            likely = len(text) <= _MAX_CONTACT_CHARS and next(find_likely_people(text, 0, len(text)), None) is not None
            return (
                has_people or likely or _names_people(text) or _CV_LINE.search(text) is not None or _lists_people(text)
            )
        case _:
            return has_people or _names_people(text)


def _begins_on_title_line(match: "re.Match[str]", group: str, rest: str) -> bool:
    """Return whether the section's text begins on its title line, as in `Acknowledgements. We thank …`."""
    if group == "thanks":
        return bool(match["mark"] or match["bold"]) and len(rest.split()) > 2
    return group == "life" and match["mark"] == ":" and (_names_people(rest) or _begins_with_person(rest))


def _begins_with_person(text: str) -> bool:
    """Return whether a sentence about a person begins with a likely name."""
    match = _ACTING.match(text)
    person = person_of(match["name"]) if match else None
    return person is not None and may_be_name(person, find_small_words(text))


def _section_end(text: str, match: "re.Match[str]", starts: Sequence[int], max_chars: int) -> int:
    place = bisect_left(starts, match.end())
    following = starts[place] if place < len(starts) else len(text)
    another = next(
        (m.start() for m in _TITLE.finditer(text, match.end(), match.end() + max_chars) if not m["rest"].strip()),
        len(text),
    )
    end = min(following, another)
    if end - match.end() <= max_chars:
        return end
    border = text.rfind("\n\n", match.end() + 2, match.end() + max_chars)
    return border if border > 0 else match.end()


def _find_lone_lines(text: str, listed: Container[int]) -> Iterator[int]:
    """Yield the offsets of short lines between blank lines that look like headings without marks, in any language.
    `listed` contains the offsets of lines that begin with names."""
    small = find_small_words(text)
    for match in _LONE_LINE.finditer(text):
        line = match["line"].strip()
        short = len(line.split()) <= _MAX_HEADING_WORDS and len(line) <= _MAX_HEADING_CHARS
        named = any(may_be_name(person, small) for person in people_in(line))
        if short and match.start("line") not in listed and classify_line(line) == "unclear" and not named:
            yield match.start("line")


def _find_first_prose(text: str, start: int, end: int, people: Sequence[int], *, after_list: bool) -> int:
    """Return the offset of the first paragraph of sentences that names nobody, or the end. `people` lists the offsets
    at which people are introduced. With `after_list`, a line other than a sentence must stand above the paragraph."""
    for line in re.finditer(r"[^\n]+", text[start:end]):
        begin, finish = start + line.start(), start + line.end()
        named = bisect_left(people, finish) > bisect_left(people, begin) or _names_people(line[0])
        if _INLINE_TITLE.match(line[0]) and not named:
            return begin
        if not is_prose(line[0]):
            after_list = False
        elif not named and not after_list:
            return begin
    return end


def _lists_people(text: str) -> bool:
    small = find_small_words(text)
    acting = (person_of(match["name"]) for match in _ACTING.finditer(text))
    return any(person and may_be_name(person, small) for person in acting) or len(list(_find_lines_of_names(text))) > 1


def _find_lines_of_names(text: str) -> Iterator[int]:
    """Yield the start of each line that begins with a name, followed by punctuation or the end of the line."""
    small = find_small_words(text)
    for match in _LINE_OF_NAME.finditer(text):
        person = person_of(match["name"])
        if person is not None and may_be_name(person, small):
            yield match.start()


def _names_people(text: str) -> bool:
    if has_titled_person(text) or CONTACT.search(text):
        return True
    people = sum(1 for match in _NAME.finditer(text) if (person := person_of(match[0])) and has_given_name(person))
    return people > 1 or (people == 1 and bool(ROLE_WORDS.search(text) or names_institution(text)))
