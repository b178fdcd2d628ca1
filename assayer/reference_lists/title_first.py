"""Entries that begin with their title: `A title. Lee A, Chen B. A journal. 2019.`, `“A title”, A. Lee, 2019`."""

import re
from itertools import islice

from assayer.reference_lists.entry_names import CONJUNCTION, OTHERS, POINTED, authors_in
from assayer.reference_lists.entry_shape import AND_OTHERS, SURNAME, UPPER, YEAR
from assayer.reference_lists.entry_title import SENTENCE_END, EntryFields, may_be_title

_END = re.compile(
    rf"(?P<by>[.,]? [Bb]y )|[.?!][”\"]?(?=\s)|[”\"][.,]?(?=\s)|\s\({YEAR}\)[.,:]?(?=\s)|[.,]?\s[–—|/-](?=\s)"
)
"""Where a title may end and names may begin."""
_MAX_CHARS, _MAX_ENDS = 400, 6
"""Number of characters in which the end of a title is looked for, and maximum number of places that are tried."""
_MIN_WORDS = 3
_LOWER_WORD = re.compile(r"(?<![\w.’'])(?!(?:and|und|von|van|der|den|del|dos|das|the)\b)[a-zß-öø-ÿа-я]{3,}")
_DOTTED = rf"(?:{UPPER}\.[ -]?){{1,4}}"
_BETWEEN = rf"(?:[,;] (?:{CONJUNCTION} )?|,? {CONJUNCTION} )"
_PEOPLE = re.compile(
    rf"(?:{SURNAME},? {POINTED}(?:{_BETWEEN}{SURNAME},? {POINTED}){{0,60}}"
    rf"|{_DOTTED} ?{SURNAME}(?:{_BETWEEN}{_DOTTED} ?{SURNAME}){{0,60}})(?P<others>,? {AND_OTHERS})?(?=[.,;:(\s]|$)"
    rf"|{SURNAME}(?P<alone>,? {AND_OTHERS})"
)
"""Names with initials after or before the family names."""
_VOLUME_AFTER = re.compile(r"[.,]?\s(?:(?:1[5-9]|20)\d\d\s?;|\d{1,4}\s?[(:])|;\s?(?:1[5-9]|20)\d\d")
"""Volume or year after a journal or publisher whose name reads like a person's: `Phys Rev B. 2000;82`."""
_FULL = rf"{UPPER}[^\W\d_][\w’'-]{{0,30}}(?: {UPPER}\.)? {SURNAME}"
_FULL_NAME = re.compile(rf"{_FULL}(?=[.,;(\s]|$)")
_FULL_NAMES = re.compile(rf"(?P<first>{_FULL})(?P<more>(?:{_BETWEEN}{_FULL}){{1,60}})(?:,? {AND_OTHERS})?(?P<end>.?)")
"""Two or more names with given names in full."""


def parse_title_first(entry: str) -> EntryFields | None:
    """Return the fields of an entry that begins with its title, directly followed by names; otherwise None."""
    for end in islice(_END.finditer(entry[:_MAX_CHARS]), _MAX_ENDS):
        title, rest = entry[: end.start() + (end[0][0] in "?!")], entry[end.end() :].lstrip(" –—-")
        if SENTENCE_END.search(title):
            return None
        people = names_after_title(rest)
        if end["by"] and (named := _FULL_NAME.match(rest)):
            people = people or (named[0],)
        if people and len(title.split()) >= _MIN_WORDS and _LOWER_WORD.search(title) and may_be_title(title):
            return EntryFields(people, title.strip('“”" .,'))
    return None


def names_after_title(text: str) -> tuple[str, ...]:
    """Return the names at the beginning of a text, or an empty tuple if it begins with other words. Of names in full
    before a comma only the first is returned, because a journal can have the form of a name."""
    listed = _PEOPLE.match(text)
    if listed and _VOLUME_AFTER.match(text, listed.end()):
        return ()
    if listed:
        people = authors_in(listed[0])
        return people if len(people) > 1 or "." in listed[0] or listed["others"] or listed["alone"] else ()
    full = _FULL_NAMES.match(text)
    if full is None:
        return ()
    return authors_in(OTHERS.sub("", full["first"] + full["more"]) if full["end"] in ".(" else full["first"])
