"""Authors, title and year of an entry, recognised by the forms in which citation styles print them."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from assayer.reference_lists.entry_shape import (
    DATE,
    ORGANISATION,
    SURNAME,
    UPPER,
    YEAR,
    begins_with_names,
    is_published,
)

_MIN_TITLE_CHARS = 8
_MAX_TITLE_CHARS = 300
_REST_OF_NAMES = re.compile(
    rf"(?:{UPPER}|[a-z])\.,|(?:{UPPER}\. ?)+ ?{UPPER}[\w’'-]+(?:,| and | & )|{UPPER}, (?:and |& )?{UPPER}"
    rf"|[a-z]+: {UPPER}$"
)
"""Initials with a comma or a family name after them: the end of a list of names, not a title."""
_QUOTED = re.compile(
    r"[\"“«„](?P<double>.{8,}?)[,.?!]?\s?[\"”»“](?!\w)"
    r"|(?<=[).,] )['‘](?P<single>.{8,400}?)[,.?!]?['’](?=[,.;]|\s*$|\s\(|\s[Ii]n:?\s)"
)
"""Pattern for a title in quotation marks. Single quotation marks (Harvard style) must open directly after the year or
the authors."""
_FIRM = re.compile(r"\b(?:Inc|Ltd|GmbH|Media|Press|Verlag)\b\.?[,.]?\s?\W$")
"""End of the name of a publisher, which some reference managers print in quotation marks."""
_CONTINUED = re.compile(r"\s+(?!in\b|at\b|from\b)[a-z]")
_STOPPED = re.compile(r"[,.?!]\s?\W$")
"""Punctuation before a closing quotation mark, which ends a title; without it, a lower-case word may continue it."""
_AFTER_DATE = re.compile(rf"(?:\({DATE}\)[.,:]?|[.,] {DATE}[.:])\s+(?!(?:URL|DOI)\b)")
_AFTER_BARE_DATE = re.compile(rf"[.,] {YEAR}\s+(?={UPPER})")
_UNREADABLE_NAMES = re.compile(
    rf"(?P<names>[^()“”\"]{{2,400}}?)(?:\s\({DATE}\)|[.,] {YEAR})[.,:]\s+(?P<title>{UPPER}[^.?!]{{8,300}}[?!]?)"
    r"[.?!]?(?=\s|$)"
)
"""Names that could not be told apart, a date after them, and a title: `Costa, B.H. e, Lee, A. (2020). A title.`"""
_MAX_LOWER_WORDS = 1
_DATE_FIRST = re.compile(rf"{DATE}[.,:]\s+(?=[^\W\d_])")
_DATE_AT_END = re.compile(rf"[\s.,;]*\(?\b{DATE}\)?[.,:]?\s*$")
_ET_AL = re.compile(rf"(?:\band )?\bet al\b\.?[,;:]?\s+(?:\(?{YEAR}\)?[.,:]?\s+)?")
_DOCUMENT_KIND = re.compile(r"\s*[\[［](?:[A-Z]{1,2}(?:/[A-Z]{2})?)[\]］](?://)?")
"""Document type as Chinese standards print it: `[J]`, `[M/OL]`."""
_ADDED_TO_TITLE = re.compile(
    r"(?:[.,:]?\s*[(\[](?:vols?|version|v|pp?|no|\d{1,2}(?:st|nd|rd|th)|r package|[\w ]{0,20}software|data ?set|online|"
    r"internet|preprint|[\w ’']{0,25}(?:thesis|dissertation)|video|film|poster|abstract|manuscript|conference)\b"
    r"[^()\[\]]{0,80}[)\]]?|: Vols?\b.{0,20}|, volume \d{1,4})+$",
    re.IGNORECASE,
)
"""Volume, edition or kind of a work, which styles print after its title: `(Vol. 2, p. 7)`, `[Computer software]`."""
_DOUBLE_STOP = re.compile(rf"(?<=\b{UPPER})\.\.(?=\s)")
_JOURNAL_IN_TITLE = re.compile(
    rf",\s(?=(?:{UPPER}[\w.&’'-]*\s(?:(?:of|and|in|for|on|the|&)\s)*){{1,9}}\d{{1,4}}\s?(?:\(\d{{1,4}}\)\s)?\(\d{{4}}\))"
)
"""Comma between a title and a journal with its volume and year: `, Rail Sci. Manag. 1 (2) (2018)`."""
_PLACE_IN_VOLUME = re.compile(r"\s\d{1,4}(?:\(\d{1,4}\))?:\s?\d{1,5}[–-]\d{1,5}$")
_IN_VOLUME = re.compile(rf", in(?:: | (?=['‘“]|{UPPER}\. ?{UPPER})).*$")
_PUBLISHER = re.compile(r";\s(?=[^\W\d_a-z]).*$")
_FIRMS = r"(?:Associates|Press|Publish(?:ers?|ing)|Publications|Verlag|Books|Springer|Wiley|Elsevier|Routledge)"
_COMMA_AND_PUBLISHER = re.compile(
    rf",\s(?:{UPPER}[\w.&’'-]*\s){{0,4}}{_FIRMS}$|\s\([^()]{{0,60}}\b{_FIRMS}\b[^()]{{0,60}}\)?$"
)
_UNNAMED_TITLE = re.compile(r"[^,;\d]{12,200}")
_MIN_WORDS = 2
_ARXIV_CLASS = re.compile(r"\s*\[[a-z-]{2,10}(?:\.[A-Za-z-]{2,8})?\]")
_SENTENCE_END = re.compile(
    r"(?<!\b[^\W\d_a-z\u3040-\u9fff\uac00-\ud7ff])(?<!\bal)(?<!\bVol)(?<!\bNo)(?<!\bSt)(?<!\bJr)(?:[.?!][”\"]?\s+(?=[\"“(¿¡]?\w)|[。．]\s*)"
)
_LONG_TITLE_END = re.compile(r"[.?!](?:\s|$)|[。．]|\s//?\s|\s\((?=[^()]*(?:1[5-9]|20)\d\d\))")
_TITLE_END = re.compile(r"[.?!](?:\s|$)|[。．]|\s//\s")
_INITIALS = re.compile(
    rf"{UPPER}\w?\.?(?:[ -]{{0,2}}{UPPER}\.?){{0,4}}|{UPPER}\. ?-?[a-z]\.?|{UPPER}\.(?:[a-z]{{1,3}}\.){{1,3}}[a-z]?"
)
_PARTICLE_AFTER = r"(?:van|von|der|den|de|del|di|da|dos|do|du|la|le|el|ten|ter|zu)"
_SURNAME_FIRST = re.compile(
    rf"(?:(?:and|&) )?(?:St\. )?(?:(?!and )[^\W\d_][\w'’-]+ ){{1,4}}{UPPER}{{1,3}}(?:-{UPPER})?(?: (?:Jr|Sr|II|III))?"
    rf"(?: {_PARTICLE_AFTER}){{0,3}}"
    r"|et al|(?:the )?[\w -]*[Gg]roup"
)
"""Pattern for a name as medical journals print it, for example `Van der Linden ML` or `Linden ML van der`."""
_INITIALS_FIRST = re.compile(
    rf"(?P<names>(?:(?:,? and |, |,? & )?(?:{UPPER}\.[ -]?){{1,4}}{SURNAME}(?: (?:Jr|Sr)\.?)?)+"
    rf"(?:,? et al\.?)?(?:, [Ee]ds?\.)?), (?=[^\W\d_])(?!{UPPER}\.|and )"
)
"""Names with initials before the family names, and the comma after the last of them."""
_POINTED = rf"(?:(?!St\.){UPPER}\w?\.(?:[ -]{{0,2}}{UPPER}\w?\.){{0,3}}|{UPPER}{{1,3}}(?=[\s,;:&]))"
_FAMILY_FIRST = re.compile(
    rf"(?P<names>{SURNAME},? {_POINTED}(?:(?:[,;] |,? & |,? and |,? и |,? und ){SURNAME},? {_POINTED})*)"
    r"(?P<others>,? (?:et al\.?|и др\.|u\. ?a\.))?(?: \([Ee]ds?\.\))?[:.]?\s+"
    rf"(?=[^\W\d_]|[\d])(?!(?:{_PARTICLE_AFTER} ?){{1,3}}[,.;])"
)
"""Names with initials after the family names, and the end of the list of names: `Lee, A., Chen, B.: `."""
_FAMILY_FIRST_COMMA = re.compile(
    rf"(?P<names>{SURNAME}, {_POINTED}(?:(?:, |,? and |,? & ){SURNAME}, {_POINTED})*)(?P<others>,? et al\.)?, "
    rf"(?=[^\W\d_])(?!and |& |(?:{_PARTICLE_AFTER} ?){{1,3}}[,.;])"
)
"""Names with initials after the family names, and a comma after the last of them: `Lee, A. and Chen, B., A title, in`.
"""
_TITLE_BEFORE_COMMA = re.compile(
    r"[.?!](?:\s|$)|, (?=(?:in|volume|vol|no|pages|pp|page|p|edition)\b|\d)", re.IGNORECASE
)
_LOWER_WORDS = re.compile(r"(?:^|\s)(?!(?:and|et|al|van|von|der|den|de|del|di|da|dos|la|le|el)\b)[a-z]{2,}(?:\s|$)")
_LONG_LOWER_WORD = re.compile(r"(?<![\w.])[a-zß-öø-ÿ]{3,}")
_MIN_TITLE_WORDS, _MAX_FAMILY_WORDS = 3, 2
_ENDS_IN_INITIAL = re.compile(rf"^(?!.*(?:^|\s)[a-z]{{2,}}\s)\S+\s\S.*\s{UPPER}$")
"""Capitalised words that end in an initial, which are names rather than a title."""
_SHORT_NAME = re.compile(rf"\s{UPPER}\w?$")
_INITIAL_INSIDE = re.compile(rf"^(?!.*\b[a-z]{{2,}}\s).*\s{UPPER}\. {UPPER}")
"""Capitalised words with an initial between them."""
_MORE_NAMES = re.compile(
    r"(?:(?:De|Del|Di|Da|Du|Dos|La|Le|El|Al|Ben|Van|Von) (?:(?:de|den|der|la) )?)?[^\W\d_][\w'’-]{1,30}"
    r"(?:,| and | & | (?:Jr|Sr|II|III|2nd|3rd)\.)"
)
_AND = re.compile(
    r"\s*(?:[,，、]\s*(?:and|und|et|y|e|och|og|en|&|и)\s+|\s(?:and|und|et|y|och|og|&|и)\s+|[;；]\s*(?:(?:and|&)\s+)?|[,，、]\s*)"
)
_OTHERS = re.compile(
    r",?\s*\b(?:et al\b\.?(?:\s?others\b\.?)?|and (?:others|Coauthors)\b|u\. ?a\.|等)"
    r"|[,，]?\s*\(?\b[Ee]ds?\b\.?\)?|\(Hrsg\.\)|…|\.\.\."
)
_SUFFIX = re.compile(r",? (?:Jr|Sr|II|III|2nd|3rd)\b\.?(?=,| and | & |\.?\s*$)")
"""Suffix of a name, which would be read as a name of its own: `Hill, Jr., Ann`."""
_ONE_NAME = re.compile(SURNAME)
_UNSPACED = re.compile(r"[\u3040-\u9fff\uac00-\ud7ff]")
_PARTICLE = re.compile(
    r"van|von|vom|der|den|dem|de|del|della|di|da|das|dos|do|du|des|las?|les?|los|el|al|ibn|bin|ben|te[rn]?|zur?|af|av|y|"
    r"e|i|und|et|and|[dl]'|['’]t|st"
)


class EntryFields(NamedTuple):
    authors: tuple[str, ...] = ()
    title: str = ""


def fields_of(entry: str) -> EntryFields:
    """Return the fields of an entry by the first form that fits."""
    entry = _DOUBLE_STOP.sub(".", entry)
    plain = _ARXIV_CLASS.sub("", _DOCUMENT_KIND.sub(lambda kind: ". " if kind[0].endswith("//") else "", entry))
    forms: tuple[Callable[[str], EntryFields | None], ...] = (
        _parse_quoted_title, _date_first, _parse_after_date, _semicolons, _initials_first, _family_first,
        _family_first_comma, _parse_after_bare_date, _parse_after_et_al,
        _title_before_names, _surnames_first, _parse_after_unreadable_names, _parse_second_sentence,
        _parse_without_authors,
    )  # fmt: skip
    fields = next((fields for form in forms if (fields := form(plain))), EntryFields())
    return fields._replace(title=_strip_title(fields.title))


def _strip_title(title: str) -> str:
    """Return a title without the date, volume, kind of work or publisher that follows it."""
    bare = _DATE_AT_END.sub("", title).strip(" .,;:")
    for added in (_IN_VOLUME, _ADDED_TO_TITLE, _PUBLISHER, _COMMA_AND_PUBLISHER, _PLACE_IN_VOLUME):
        shorter = added.sub("", bare).strip(" .,;:")
        bare = shorter if _may_be_title(shorter) else bare
    return bare


def _parse_quoted_title(entry: str) -> EntryFields | None:
    quoted = _QUOTED.search(entry)
    if quoted is None:
        return None
    before = _DATE_AT_END.sub("", entry[: quoted.start()])
    people = authors_in(before)
    if _FIRM.search(quoted[0]):
        return None  # `Building engines. " O'Reilly Media, Inc."`
    if not people and before.rstrip()[-1:].isalpha():
        return None  # `Fitting models with the package “lavaan”`: the words in quotation marks are part of the title
    if _CONTINUED.match(entry, quoted.end()) and not _STOPPED.search(quoted[0]):
        return None  # `(2015). “Utilitarian” judgments in moral dilemmas`
    return EntryFields(people, quoted["double"] or quoted["single"])


def _date_first(entry: str) -> EntryFields | None:
    """Parse an entry without authors of the form `2019. A title. A publisher.`"""
    dated = _DATE_FIRST.match(entry)
    title = _SENTENCE_END.split(entry[dated.end() :], maxsplit=1)[0].rstrip(" .,") if dated else ""
    return EntryFields((), title) if _may_be_title(title) else None


def _semicolons(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Ann J Lee; Bo Chen. A title. A journal.`"""
    names, *rest = _SENTENCE_END.split(entry, maxsplit=1)
    return _split_names_and_title(names, rest[0]) if rest and ";" in names and ":" not in names else None


def _initials_first(entry: str) -> EntryFields | None:
    """Parse an entry of the form `A. Lee and B. Chen, A title. Publisher, 2018.`, which engineering styles use for
    books."""
    listed = _INITIALS_FIRST.match(entry)
    if listed is None:
        return None
    rest = entry[listed.end() :]
    title = re.split(r"[.?!](?:\s|$)|, (?=\d|vol\b|ser\b|[Ii]n\b)", rest, maxsplit=1)[0]
    if (journal := _JOURNAL_IN_TITLE.search(rest)) and journal.start() < len(title):
        title = rest[: journal.start()]
    return EntryFields(authors_in(listed["names"]), title) if _may_be_title(title) and " " in title else None


def _family_first(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee, A., Chen, B.: A title. A journal (2019)`, or with `//` after the title."""
    listed = _FAMILY_FIRST.match(entry)
    if listed is None:
        return None
    rest = entry[listed.end() :]
    if _begins_with_more_names(rest) or rest.startswith(("and ", "& ", "et al")):
        return None  # `Ann J. Lee, Bo Chen`
    title = _LONG_TITLE_END.split(rest, maxsplit=1)[0]
    names = _OTHERS.sub("", listed["names"])
    return EntryFields(authors_in(names) or (names,), title) if _may_be_title(title) and " " in title else None


def _family_first_comma(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee, A. and Chen, B., A title, in Proceedings, pages 1–9, 2019.`"""
    listed = _FAMILY_FIRST_COMMA.match(entry)
    rest = entry[listed.end() :] if listed else ""
    if listed is None or _begins_with_more_names(rest) or _AFTER_DATE.search(entry):
        return None
    title = _TITLE_BEFORE_COMMA.split(rest, maxsplit=1)[0]
    names = _OTHERS.sub("", listed["names"])
    return EntryFields(authors_in(names) or (names,), title) if _may_be_title(title) and " " in title else None


def _begins_with_more_names(rest: str) -> bool:
    """Return whether a text begins with names that end in a full stop or in `et al.`: several names, or one name before
    a sentence that does not say where the work appeared, unlike the journal after a title of two words."""
    before_others, *others = _ET_AL.split(rest, maxsplit=1)
    names, *after = _SENTENCE_END.split(before_others, maxsplit=1)
    people = authors_in(names)
    if not people or ":" in names or _LOWER_WORDS.search(names):
        return False
    if _MORE_NAMES.match(rest) or ("," in names and len(people) > 1) or (others and not after):
        return True
    following = _SENTENCE_END.split("".join(after), maxsplit=1)[0]
    return (
        len(names.split()) <= _MAX_FAMILY_WORDS
        and len(following.split()) > _MIN_TITLE_WORDS
        and not is_published(following)
    )


def _parse_after_date(entry: str) -> EntryFields | None:
    dated = _AFTER_DATE.search(entry)
    return _split_names_and_title(entry[: dated.start()], entry[dated.end() :]) if dated else None


def _parse_after_bare_date(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee, A, and Chen, B, 1997 A title`."""
    dated = _AFTER_BARE_DATE.search(entry)
    if dated is None or "," not in entry[: dated.start()] or not begins_with_names(entry):
        return None
    return _split_names_and_title(entry[: dated.start()], entry[dated.end() :])


def _parse_after_unreadable_names(entry: str) -> EntryFields | None:
    """Return only the title of an entry whose names cannot be told apart, if a date separates them from it."""
    found = _UNREADABLE_NAMES.match(entry)
    if found is None or not begins_with_names(entry) or authors_in(found["names"]):
        return None
    names = [word for word in _LONG_LOWER_WORD.findall(found["names"]) if not _PARTICLE.fullmatch(word)]
    return EntryFields((), found["title"]) if len(names) <= _MAX_LOWER_WORDS and _may_be_title(found["title"]) else None


def _parse_after_et_al(entry: str) -> EntryFields | None:
    others = _ET_AL.search(entry)
    return _split_names_and_title(entry[: others.start()], entry[others.end() :]) if others else None


def _parse_second_sentence(entry: str) -> EntryFields | None:
    names, *rest = _SENTENCE_END.split(entry, maxsplit=1)
    if (
        rest and "," in names and _SHORT_NAME.search(names) and _begins_with_more_names(rest[0])
    ):  # `Ann Lee, Bo Ya. Chen, and Cy Dale. A title`
        more, *rest = _SENTENCE_END.split(rest[0], maxsplit=1)
        names = f"{names}. {more}"
    return _split_names_and_title(names, rest[0]) if rest else None


def _parse_without_authors(entry: str) -> EntryFields | None:
    """Parse an entry that begins with its title: `A title. [Online]. Available: …`, `A title. A journal 2019;3:1`."""
    title = _SENTENCE_END.split(entry, maxsplit=1)[0]
    rest = entry[len(title) :]
    begins_sentence = (
        _UNNAMED_TITLE.fullmatch(title) and not _INITIAL_INSIDE.match(title) and len(title.split()) > _MIN_WORDS
    )
    is_title = rest.strip() and (begins_sentence or rest.lstrip(" .").startswith("[Online]"))
    return EntryFields((), title) if is_title and _may_be_title(title) else None


def _split_names_and_title(names: str, rest: str) -> EntryFields | None:
    """Return the names and, as the title, the sentence after them; otherwise None."""
    people, title = authors_in(names), _SENTENCE_END.split(rest, maxsplit=1)[0]
    return EntryFields(people, title.rstrip(" .,")) if people and _may_be_title(title) else None


def _may_be_title(title: str) -> bool:
    unspaced = any("\u3040" <= letter <= "\uffdc" for letter in title)
    shortest = _MIN_TITLE_CHARS // 2 if unspaced else _MIN_TITLE_CHARS
    return shortest <= len(title) <= _MAX_TITLE_CHARS and not (
        _REST_OF_NAMES.match(title) or _ENDS_IN_INITIAL.match(title)
    )


def _title_before_names(entry: str) -> EntryFields | None:
    """Parse an entry of the form `A title (Lee et al., 2019)`."""
    title, bracket, rest = entry.partition(" (")
    named, comma, year = rest.partition(")")[0].rpartition(" ")
    people = () if _SENTENCE_END.search(title) else authors_in(named)
    if bracket and comma and people and _may_be_title(title) and re.fullmatch(YEAR, year):
        return EntryFields(people, title.rstrip(" .,"))
    return None


def _surnames_first(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee A, Chen B. A title. A journal.`, in which the full stop after the initials ends
    the list of authors."""
    listed, *others = re.split(r"(?<!\bSt)\. ", entry, maxsplit=1)
    rest = "".join(others)
    names = [name.strip() for name in listed.split(",")]
    if not others or not all(map(_SURNAME_FIRST.fullmatch, names)):
        return None
    if (len(names) == 1 or "," in _SENTENCE_END.split(rest, maxsplit=1)[0]) and _begins_with_more_names(rest):
        return None  # `Ann J. Lee, Bo Chen`
    title = _TITLE_END.split(rest, maxsplit=1)[0]
    people = tuple(re.sub(r"^(?:and|&) ", "", name) for name in names if name != "et al")
    return EntryFields(people, title) if _may_be_title(title) else None


def authors_in(text: str) -> tuple[str, ...]:
    """Return the names as printed, or an empty tuple if the text does not look like a list of names."""
    text = _SUFFIX.sub("", _OTHERS.sub("", text)).strip(" .,;:，。")
    if not text or len(text) > 4_000 or re.search(r"\d{3}|\d\D*$", text):
        return ()
    if ORGANISATION.search(text) and len(text) <= 160 and not re.search(r"[;&]|\w{3}\. ", text):
        return tuple(part.strip() for part in text.split(", and ") if part.strip())
    parts = [part.strip(" .,") for part in _AND.split(text) if part.strip(" .,")]
    names = list(_parse_inverted_names(parts) if _is_inverted(parts) else _join_initials(parts))
    return tuple(names) if all(map(_reads_like_name, names)) else ()


def _reads_like_name(name: str) -> bool:
    """Return whether a name has at most six words, of which only particles are in lower case."""
    words = name.split()
    if len(words) > 6:
        return False
    return not any(word[0].islower() and not _PARTICLE.fullmatch(word.rstrip(",")) for word in words)


def _is_inverted(parts: list[str]) -> bool:
    """Return whether the first name is inverted, with the given name in full: `Lee, Ann, and Bo Chen`."""
    if len(parts) < 2 or (not parts[0].isascii() and _UNSPACED.search(parts[0])):
        return False
    if _INITIALS.fullmatch(parts[1]) or not _ONE_NAME.fullmatch(parts[0]):
        return False
    words = len(re.sub(r"^(?:[a-z'’]+ )+", "", parts[0]).split())
    given = parts[1].split()
    if words == 1:
        return len(given) <= 3 and (len(given) == 1 or _INITIALS.fullmatch(given[-1]) is not None or len(parts) == 2)
    return len(given) == 1 and len(parts) == 2 and len(parts[0].split()) <= 3


def _parse_inverted_names(parts: list[str]) -> Iterator[str]:
    """Yield the names of a list in which the first name is inverted; the others are inverted too if all parts are
    single words."""
    yield f"{parts[0]}, {parts[1]}"
    rest = parts[2:]
    if rest and len(rest) % 2 == 0 and all(" " not in family for family in rest[::2]):
        yield from (f"{family}, {given}" for family, given in zip(rest[::2], rest[1::2], strict=True))
    else:
        yield from rest


def _join_initials(parts: list[str]) -> Iterator[str]:
    """Yield the names, each surname such as `Lee` joined with the initials that follow it."""
    name = ""
    for part in parts:
        if name and _INITIALS.fullmatch(part) and len(part.replace(".", "").replace(" ", "")) <= 5:
            yield f"{name}, {part}"
            name = ""
            continue
        if name:
            yield name
        name = part
    if name:
        yield name
