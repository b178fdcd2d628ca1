"""Find personal URLs: university home pages, profiles, and accounts on code hosts."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from assayer.blinding.names import is_given_name
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import split_words

_PAGE = re.compile(
    r"(?<![\w./-])(?:https?://)?(?:www\.)?(?:[\w-]{1,40}\.){1,4}(?:edu|ac\.\w\w)/(?:~|people/|staff/|"
    r"faculty/)[\w./~-]{1,80}"
    r"|https?://(?:www\.)?(?:linkedin\.com/in|scholar\.google\.\w{2,3}/citations\?user=|"
    r"researchgate\.net/profile)[\w./?=&-]{0,80}",
    re.I,
)
_ACCOUNT = re.compile(
    r"(?<![\w./-])(?:https?://)?(?:www\.)?"
    r"(?:(?:(?:github|gitlab|bitbucket|x|twitter|medium|huggingface|kaggle)\.(?:com|org|co)|sites\.google\.com/view)/"
    r"(?P<owner>@?[\w.-]{1,40})(?:/[\w.~-]{1,60}){0,4}/?"
    r"|(?P<host>[\w-]{1,40})\.(?:(?:github|gitlab)\.io|netlify\.app|wordpress\.com)(?:/[\w.~-]{1,60}){0,4}/?)",
    re.I,
)
_OURS = re.compile(
    r"\b(?:our|my)(?: [\w-]{1,20}){0,2} (?:code|repository|repo|implementation|web ?site|(?:home)?page|project|"
    r"software|package|pilot|prototype|data|account|profile)\b[^.!?\n]{0,60}$",
    re.I,
)
_LOOK_BACK = 120
_MIN_PART_LETTERS = 4
"""Minimum number of letters in a surname that is matched inside an account name."""
_OF_MANY = split_words("ai lab labs ml nlp research data models model group team code net gpt org dev io project")


def personal_pages(text: str, people: Iterable[Person]) -> Iterator[MaskSpan]:
    """Yield personal pages. An account counts if its name contains a known first name or the surname of one of the
    `people`, or if the text attributes it to the author."""
    families = {_reduce_to_letters(person.family.split(" ")[-1]) for person in people}
    for match in _PAGE.finditer(text):
        yield MaskSpan(*match.span(), "contact")
    for match in _ACCOUNT.finditer(text):
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
        if _OURS.search(before) or _is_named_after(match["owner"] or match["host"], families):
            yield MaskSpan(match.start(), match.start() + len(match[0].rstrip(".")), "contact")


def _is_named_after(owner: str, families: set[str]) -> bool:
    parts = [part for part in re.split(r"[-_.@]", owner.lower()) if part]
    joined = "".join(parts)
    if any(family in parts or (len(family) >= _MIN_PART_LETTERS and family in joined) for family in families if family):
        return True
    known = any(is_given_name(part.capitalize()) for part in (parts[0], parts[-1])) if parts else False
    return known and 2 <= len(parts) <= 3 and all(part.isalpha() and part not in _OF_MANY for part in parts)


def _reduce_to_letters(name: str) -> str:
    """Reduce a name to the letters that an account name would use: lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", name.lower().replace("ı", "i").replace("ø", "o").replace("ł", "l"))
    return "".join(letter for letter in decomposed if letter.isascii() and letter.isalpha())
