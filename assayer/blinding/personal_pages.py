"""Find what is named after a person: home pages, profiles, accounts, handles, files and folders."""

import re
from collections.abc import Iterable, Iterator

from assayer.blinding.names import is_given_name
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words, split_words
from assayer.text.folding import fold_text, german_folded

_PAGE = re.compile(
    r"(?<![\w./-])(?:https?://)?(?:www\.)?(?:[\w-]{1,40}\.){1,4}(?:edu|ac\.\w\w)/(?:~|people/|staff/|"
    r"faculty/)[\w./~-]{1,80}"
    r"|(?<![\w./-])(?:https?://)?(?:[a-z]{2,3}\.)?(?:linkedin\.com/in|scholar\.google\.\w{2,3}(?:\.\w\w)?/citations\?\S{0,40}user=|"
    r"researchgate\.net/profile|bsky\.app/profile|publons\.com/researcher|loop\.frontiersin\.org/people|"
    r"webofscience\.com/wos/author|scopus\.com/authid|academia\.edu/people|about\.me|keybase\.io|orcid\.org)[\w./?=&%@-]{0,80}"
    r"|(?<![\w./])@[\w.-]{2,30}@(?:[\w-]{1,40}\.){1,3}[a-z]{2,12}\b",
    re.I,
)
_ACCOUNT = re.compile(
    r"(?<![\w./-])(?:https?://)?(?:www\.)?"
    r"(?:(?:(?:github|gitlab|bitbucket|x|twitter|medium|huggingface|kaggle)\.(?:com|org|co)|sites\.google\.com/view)/"
    r"(?P<owner>@?[\w.-]{1,40})(?:/[\w.~-]{1,60}){0,4}/?"
    r"|(?P<host>[\w-]{1,40})\.(?:(?:github|gitlab)\.io|netlify\.app|wordpress\.com)(?:/[\w.~-]{1,60}){0,4}/?)",
    re.I,
)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"'“”]{3,200}", re.I)
_OURS = re.compile(
    r"\b(?:our|my)(?: [\w-]{1,20}){0,2} (?:code|repository|repo|implementation|web ?site|(?:home)?page|project|"
    r"software|package|pilot|prototype|data|account|profile)\b[^.!?\n]{0,60}$",
    re.I,
)
_OUR_PAGE = re.compile(
    r"\b(?:our|my)(?: [\w-]{1,20}){0,2} (?:web ?sites?|(?:home ?|web ?)?pages?|site|blog|profile|lab|"
    r"group)\b[^.!?\n]{0,40}$",
    re.I,
)
_MAX_HOST_DOTS = 2
_HANDLE = re.compile(r"(?<![\w./@])@(?P<name>[A-Za-z][\w.]{2,30})(?![\w@(])")
_NETWORK_BEFORE = re.compile(
    r"\b(?:twitter|mastodon|bluesky|instagram|threads|youtube|tiktok|telegram|handle|post(?:s|ing)? as|"
    r"follow (?:me|us))"
    r"(?: (?:at|on|as|account))?:? ?\(?$",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?<![\w@./\\~-])(?=[^\s,;]{0,60}[/_\\@.~-])[\w@~/\\][^\s<>()\[\]\"'“”,;，。；、]{2,200}")
"""Pattern for a word that may be an address, path, file or handle."""
_IS_ADDRESS = re.compile(r"[/_\\@~]|\.[a-z]|^www\.|\d", re.I)
_LOGIN = re.compile(r"(?<![\w@./\\-])[a-z]{5,30}\d{0,4}(?![\w@./-])")
"""Pattern for a word that may be a login name."""
_LIST_OF_NAMES = re.compile(r"[^\W\d_]+(?:[/.~-](?=[^\W\d_a-z])[^\W\d_]+)+")
_PART = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LOOK_BACK = 120
_MIN_PART_LETTERS = 4
"""Minimum number of letters in a surname that is matched inside an account name."""
_OF_MANY = split_words("ai lab labs ml nlp research data models model group team code net gpt org dev io project")
_AROUND_NAME = r"(?:lab|labs|group|team|dr|prof|phd|the)?"


def personal_pages(text: str, people: Iterable[Person]) -> Iterator[MaskSpan]:
    """Yield personal pages, and addresses, files and handles named after the people. An account also counts if its name
    contains a known first name, or if the text attributes it to the author."""
    people = list(people)
    families = {form for person in people for form in _letters_of(person.family.split(" ")[-1])}
    for match in _PAGE.finditer(text):
        yield MaskSpan(*match.span(), "contact")
    for match in _ACCOUNT.finditer(text):
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
        if _OURS.search(before) or _is_named_after(match["owner"] or match["host"], families):
            yield MaskSpan(match.start(), match.start() + len(match[0].rstrip(".")), "contact")
    yield from _handles_and_sites(text, people, families)
    names = _compile_names(people)
    if names is None:
        return
    for match in _LOGIN.finditer(text):
        if names.fullmatch(match[0]) and match[0] not in families | english_words():
            yield MaskSpan(*match.span(), "contact")
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".:!?")
        parts = _PART.findall(_HUMP.sub(" ", token)) + _PART.findall(token)
        if (
            _IS_ADDRESS.search(token)
            and not _LIST_OF_NAMES.fullmatch(token)
            and any(names.fullmatch(part.lower()) for part in parts)
        ):
            yield MaskSpan(match.start(), match.start() + len(token), "contact")


def _handles_and_sites(text: str, people: Iterable[Person], families: set[str]) -> Iterator[MaskSpan]:
    """Yield handles such as `@JaneRoe_`, and sites named after the first name of one of the people or called theirs."""
    givens = {form for person in people for part in person.given.split(" ") for form in _letters_of(part)}
    for match in _HANDLE.finditer(text):
        name = fold_text(match["name"])
        named = any(len(part) > _MIN_PART_LETTERS and part in name for part in givens | families)
        if named or _NETWORK_BEFORE.search(text[max(0, match.start() - _LOOK_BACK) : match.start()]):
            yield MaskSpan(*match.span(), "contact")
    sites = {part for part in givens - english_words() if len(part) >= _MIN_PART_LETTERS}
    for match in _URL.finditer(text):
        host = re.sub("^(?:https?://)?", "", match[0].lower()).partition("/")[0]
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
        named = host.count(".") <= _MAX_HOST_DOTS and not sites.isdisjoint(host.split("."))
        if named or _OUR_PAGE.search(before):
            yield MaskSpan(match.start(), match.start() + len(match[0].rstrip(".:")), "contact")


def _compile_names(people: Iterable[Person]) -> "re.Pattern[str] | None":
    """Return the pattern for parts of accounts and file names that name one of the people: `roe`, `jroe`, `janeroe`,
    `roej`, `roelab`. None if nobody has a name in Latin letters."""
    forms = set[str]()
    for person in people:
        for family in _parts_of_family(person):
            given = [form for part in person.given.split(" ") for form in _letters_of(part)]
            short = (form[:length] for form in given for length in (1, *range(4, len(form))))
            first = "|".join(dict.fromkeys([*given, *short, *_join_initials(given)]))
            around = rf"(?:{first})?" if first else "[a-z]?"
            if len(family) >= _MIN_PART_LETTERS:
                forms.add(rf"{_AROUND_NAME}{around}{family}{around}{_AROUND_NAME}")
            elif len(family) > 1 and given:
                forms.add(rf"(?:{'|'.join(given)}){family}|{family}(?:{'|'.join(given)})")
    return re.compile("|".join(sorted(forms))) if forms else None


def _parts_of_family(person: Person) -> list[str]:
    """Return the surname, and its parts if it is a double one, as account names write them."""
    family = person.family.split(" ")[-1]
    parts = (form for part in family.split("-") for form in _letters_of(part))
    return [*_letters_of(family), *(part for part in parts if len(part) > _MIN_PART_LETTERS)]


def _join_initials(given: list[str]) -> list[str]:
    return ["".join(form[0] for form in given)] if len(given) > 1 else []


def _is_named_after(owner: str, families: set[str]) -> bool:
    parts = [part for part in re.split(r"[-_.@]", owner.lower()) if part]
    joined = "".join(parts)
    if any(family in parts or (len(family) >= _MIN_PART_LETTERS and family in joined) for family in families):
        return True
    known = any(is_given_name(part.capitalize()) for part in (parts[0], parts[-1])) if parts else False
    return known and 2 <= len(parts) <= 3 and all(part.isalpha() and part not in _OF_MANY for part in parts)


def _letters_of(name: str) -> list[str]:
    """Return a name reduced to the letters that an account name would use: lower case, without accents, and with
    umlauts written out."""
    forms = (fold_text(name), german_folded(name))
    plain = ("".join(letter for letter in form if letter.isascii() and letter.isalpha()) for form in forms)
    return [form for form in dict.fromkeys(plain) if len(form) > 1]
