"""Authors, title and year of an entry, recognised by the forms in which citation styles print them."""

import re
from collections.abc import Callable

from assayer.reference_lists.entry_names import CONJUNCTION, OTHERS, PARTICLE, POINTED, authors_in
from assayer.reference_lists.entry_shape import (
    AND_OTHERS,
    DATE,
    ORGANISATION,
    SURNAME,
    UPPER,
    YEAR,
    begins_with_names,
    is_published,
)
from assayer.reference_lists.entry_title import SENTENCE_END, EntryFields, may_be_title
from assayer.reference_lists.title_first import names_after_title, parse_title_first

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
_SHORT_TITLE = re.compile(r"[\w-]{2,7}\. In:? [^\W\d_a-z]")
_AFTER_BARE_DATE = re.compile(rf"[.,] {YEAR}\s+(?={UPPER})")
_UNREADABLE_NAMES = re.compile(
    rf"(?P<names>[^()“”\"]{{2,400}}?)(?:\s\({DATE}\)|[.,] {YEAR})[.,:]\s+"
    rf"(?P<title>(?!(?:URL|DOI|Available|Retrieved|Accessed)\b){UPPER}[^.?!]{{8,300}}[?!]?)"
    r"[.?!]?(?=\s|$)"
)
"""Names that could not be told apart, a date after them, and a title: `Costa, B.H. e, Lee, A. (2020). A title.`"""
_MAX_LOWER_WORDS = 1
_DATE_FIRST = re.compile(rf"{DATE}[.,:]\s+(?=[^\W\d_])")
_DATE_AT_END = re.compile(rf"[\s.,;]*\(?\b{DATE}\)?[.,:]?\s*$")
_ET_AL = re.compile(rf"(?:\band )?\b{AND_OTHERS}[,;:]?\s+(?:\(?{YEAR}\)?[.,:]?\s+)?")
_DOCUMENT_KIND = re.compile(r"\s*[\[［](?:[A-Z]{1,2}(?:/[A-Z]{2})?)[\]］](?://)?")
"""Document type as Chinese standards print it: `[J]`, `[M/OL]`."""
_ADDED_TO_TITLE = re.compile(
    r"(?:[.,:]?\s*[(\[](?:vols?|version|v|pp?|no|\d{1,2}(?:st|nd|rd|th)|r package|[\w ]{0,20}software|"
    r"tech(?:nical|\.)? rep|data ?set|online|internet|preprint|[\w ’']{0,25}(?:thesis|dissertation)|video|film|"
    r"poster|abstract|manuscript|conference)\b"
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
FIRMS = r"(?:Associates|Press|Publish(?:ers?|ing)|Publications|Verlag|Books|Springer|Wiley|Elsevier|Routledge)"
_COMMA_AND_PUBLISHER = re.compile(
    rf",\s(?:{UPPER}[\w.&’'-]*\s){{0,4}}{FIRMS}(?:,\s{UPPER}[\w ]{{1,20}})?$"
    rf"|\s\([^()]{{0,60}}\b{FIRMS}\b[^()]{{0,60}}\)?$"
)
_UNNAMED_TITLE = re.compile(r"[^,;\d]{12,200}")
_MIN_WORDS = 2
_MAX_NAMES_CHARS = 300
_POINTED_NAMES = re.compile(rf"{SURNAME},? {UPPER}\.")
_WORD_AFTER_INITIAL = re.compile(rf"\b{UPPER}\. {UPPER}[\w-]{{2,}}")
_EDITED = re.compile(r"\s*\((?:[Hh]rsgg?|[Hh]g|[Ee]ds?|[Rr]ed|[Cc]oord)\.?\)")
_ARXIV_CLASS = re.compile(r"\s*\[[a-z-]{2,10}(?:\.[A-Za-z-]{2,8})?\]")
_LONG_TITLE_END = re.compile(r"[.?!](?:\s|$)|[。．]|\s//?\s|\s\((?=[^()]*(?:1[5-9]|20)\d\d\))")
_TITLE_END = re.compile(r"[.?!](?:\s|$)|[。．]|\s//\s")
_PARTICLE_AFTER = r"(?:van|von|der|den|de|del|di|da|dos|do|du|la|le|el|ten|ter|zu)"
_CAPITAL_FAMILY = rf"{UPPER}(?:{UPPER}|['’-]){{1,30}}(?: {UPPER}(?:{UPPER}|['’-]){{1,30}}){{0,3}}"
_GIVEN = (
    rf"(?:{UPPER}[\w'’-]+(?: {UPPER}[\w'’-]+){{0,2}}(?: {UPPER}\b\.?){{0,3}}"
    rf"|{UPPER}\.(?: ?(?:d[aeo]s? )?-?{UPPER}\.){{0,3}})"
)
_CAPITAL_NAME = rf"{_CAPITAL_FAMILY}, {_GIVEN}"
_BETWEEN_CAPITALS = re.compile(rf"(?:; |,? (?:{CONJUNCTION}|e) |, )(?={_CAPITAL_FAMILY},)")
_CAPITALS_FIRST = re.compile(
    rf"(?P<names>{_CAPITAL_NAME}(?:{_BETWEEN_CAPITALS.pattern}{_CAPITAL_NAME}){{0,30}})(?:,? {AND_OTHERS})?"
    rf"(?: \([^()]{{2,12}}\))?(?:(?<=[.]) |[.:] )(?=[^\W_])(?!{UPPER}\.|{CONJUNCTION} )"
)
"""Names with the family names in capitals, as ISO 690 prints them, and their end: `LEE, Ann B.; CHEN, Bo. `."""
_BETWEEN_SLASHES = re.compile(
    r"(?P<title>[^/]{8,300}?)(?: \[[^\[\]]{3,30}\])? / (?P<names>[^/\[\]]{3,400}?)(?: \[[^\[\]]{2,8}\])?"
    r"(?= // |\. [—–] )"
)
"""Title, names, and the mark before the journal or the date."""
_SURNAME_FIRST = re.compile(
    rf"(?:(?:and|&) )?(?:St\. )?(?:(?!and )[^\W\d_][\w'’-]+ ){{1,4}}{UPPER}{{1,3}}(?:-{UPPER})?(?: (?:Jr|Sr|II|III))?"
    rf"(?: {_PARTICLE_AFTER}){{0,3}}"
    r"|et al|(?:the )?[\w -]*[Gg]roup"
)
"""Pattern for a name as medical journals print it, for example `Van der Linden ML` or `Linden ML van der`."""
_INITIALS_FIRST = re.compile(
    rf"(?P<names>(?:(?:,? {CONJUNCTION} |, )?(?:{UPPER}\.[ -]?){{1,4}}{SURNAME}(?: (?:Jr|Sr)\.?)?)+"
    rf"(?:,? {AND_OTHERS})?(?:, [Ee]ds?\.)?), (?=[^\W\d_])(?!{UPPER}\.|and )"
)
"""Names with initials before the family names, and the comma after the last of them."""
_FAMILY_FIRST = re.compile(
    rf"(?P<names>{SURNAME},? {POINTED}(?:(?:[,;] |,? {CONJUNCTION} ){SURNAME},? {POINTED})*)"
    rf"(?P<others>,? {AND_OTHERS})?(?: \([Ee]ds?\.\))?[:.]?\s+"
    rf"(?=[^\W\d_]|[\d])(?!(?:{_PARTICLE_AFTER} ?){{1,3}}(?:[,.;]|{UPPER}[\w'’-]+(?:, | and )))"
)
"""Names with initials after the family names, and the end of the list of names: `Lee, A., Chen, B.: `."""
_FAMILY_FIRST_COMMA = re.compile(
    rf"(?P<names>{SURNAME}, {POINTED}(?:(?:, |,? {CONJUNCTION} ){SURNAME}, {POINTED})*)(?P<others>,? {AND_OTHERS})?, "
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
_SHORT_NAME = re.compile(rf"\s{UPPER}\w?$")
_INITIAL_INSIDE = re.compile(rf"^(?!.*\b[a-z]{{2,}}\s).*\s{UPPER}\. {UPPER}")
"""Capitalised words with an initial between them."""
_WIDE_COLON = re.compile(r"(?P<names>[^：。．\d]{2,120})：\s?(?P<title>[^，。．]{2,200}?)[，。．]")
"""Names and title that end in wide punctuation marks."""
_MORE_NAMES = re.compile(
    r"(?:(?:De|Del|Di|Da|Du|Dos|La|Le|El|Al|Ben|Van|Von) (?:(?:de|den|der|la) )?)?[^\W\d_][\w'’-]{1,30}"
    r"(?:,| and | & | (?:Jr|Sr|II|III|2nd|3rd)\.)"
)


def fields_of(entry: str) -> EntryFields:
    """Return the fields of an entry by the first form that fits."""
    entry = _DOUBLE_STOP.sub(".", entry)
    plain = _ARXIV_CLASS.sub("", _DOCUMENT_KIND.sub(lambda kind: ". " if kind[0].endswith("//") else "", entry))
    forms: tuple[Callable[[str], EntryFields | None], ...] = (
        _parse_quoted_title, _between_slashes, _date_first, _capitals_first, _parse_after_date, _semicolons,
        _initials_first, _family_first, _family_first_comma, _before_wide_colon, _before_colon,
        _parse_after_bare_date, parse_title_first,
        _parse_after_et_al, _title_before_names, _surnames_first, _parse_after_unreadable_names,
        _parse_second_sentence, _parse_without_authors,
    )  # fmt: skip
    fields = next((fields for form in forms if (fields := form(plain))), EntryFields())
    return fields._replace(title=_strip_title(fields.title))


def _strip_title(title: str) -> str:
    """Return a title without the date, volume, kind of work or publisher that follows it."""
    bare = _DATE_AT_END.sub("", title.partition(" // ")[0]).strip(" .,;:")
    for added in (_IN_VOLUME, _ADDED_TO_TITLE, _PUBLISHER, _COMMA_AND_PUBLISHER, _PLACE_IN_VOLUME):
        shorter = added.sub("", bare).strip(" .,;:")
        bare = shorter if may_be_title(shorter) else bare
    return bare


def _parse_quoted_title(entry: str) -> EntryFields | None:
    quoted = _QUOTED.search(entry)
    if quoted is None:
        return None
    before = _DATE_AT_END.sub("", entry[: quoted.start()])
    people = authors_in(before) if before.strip() else names_after_title(entry[quoted.end() :].lstrip(" .,"))
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
    title = SENTENCE_END.split(entry[dated.end() :], maxsplit=1)[0].rstrip(" .,") if dated else ""
    return EntryFields((), title) if may_be_title(title) else None


def _between_slashes(entry: str) -> EntryFields | None:
    """Parse an entry of the form `A title / A. Lee, B. Chen et al. // A journal. — 2019.`, as GOST 7.0.5 prints it."""
    described = _BETWEEN_SLASHES.match(entry)
    people = authors_in(described["names"]) if described else ()
    return EntryFields(people, described["title"]) if described and people else None


def _capitals_first(entry: str) -> EntryFields | None:
    """Parse an entry of the form `LEE, Ann B.; CHEN, Bo. A title. A publisher, 2019.`"""
    listed = _CAPITALS_FIRST.match(entry)
    title = SENTENCE_END.split(entry[listed.end() :], maxsplit=1)[0] if listed else ""
    if listed is None or not may_be_title(title):
        return None
    return EntryFields(tuple(name.rstrip(".") for name in _BETWEEN_CAPITALS.split(listed["names"])), title)


def _semicolons(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Ann J Lee; Bo Chen. A title. A journal.`"""
    names, *rest = SENTENCE_END.split(entry, maxsplit=1)
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
    return EntryFields(authors_in(listed["names"]), title) if may_be_title(title) and " " in title else None


def _family_first(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee, A., Chen, B.: A title. A journal (2019)`, or with `//` after the title."""
    listed = _FAMILY_FIRST.match(entry)
    if listed is None:
        return None
    rest = entry[listed.end() :]
    if _begins_with_more_names(rest) or rest.startswith(("and ", "& ", "et al")):
        return None  # `Ann J. Lee, Bo Chen`
    title = _LONG_TITLE_END.split(rest, maxsplit=1)[0]
    names = OTHERS.sub("", listed["names"])
    return EntryFields(authors_in(names) or (names,), title) if may_be_title(title) and " " in title else None


def _family_first_comma(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee, A. and Chen, B., A title, in Proceedings, pages 1–9, 2019.`"""
    listed = _FAMILY_FIRST_COMMA.match(entry)
    rest = entry[listed.end() :] if listed else ""
    if listed is None or _begins_with_more_names(rest) or _AFTER_DATE.search(entry):
        return None
    title = _TITLE_BEFORE_COMMA.split(rest, maxsplit=1)[0]
    names = OTHERS.sub("", listed["names"])
    return EntryFields(authors_in(names) or (names,), title) if may_be_title(title) and " " in title else None


def _before_colon(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee, Ann / Chen, Bo: A title. In: A journal 3 (2019)`, or with an organisation before
    the colon."""
    names, _, rest = entry.partition(": ")
    names = _EDITED.sub("", names)
    title = _LONG_TITLE_END.split(rest, maxsplit=1)[0]
    is_list = "," in names or ORGANISATION.search(names)
    if not is_list or len(names) > _MAX_NAMES_CHARS or SENTENCE_END.search(names) or _ET_AL.search(names):
        return None
    if _POINTED_NAMES.match(names) and _WORD_AFTER_INITIAL.search(names):
        return None  # `Lee, A., and Chen, B. Mail: a survey`
    people = authors_in(names) if begins_with_names(f"{names}:") else ()
    return EntryFields(people, title) if people and may_be_title(title) and " " in title else None


def _before_wide_colon(entry: str) -> EntryFields | None:
    """Parse an entry of the form `李世明，王芳：题名，期刊，2019`, in a script without spaces."""
    listed = _WIDE_COLON.match(entry)
    people = authors_in(listed["names"]) if listed else ()
    return EntryFields(people, listed["title"]) if listed and people and may_be_title(listed["title"]) else None


def _begins_with_more_names(rest: str) -> bool:
    """Return whether a text begins with names that end in a full stop or in `et al.`: several names, or one name before
    a sentence that does not say where the work appeared, unlike the journal after a title of two words."""
    before_others, *others = _ET_AL.split(rest, maxsplit=1)
    names, *after = SENTENCE_END.split(before_others, maxsplit=1)
    people = authors_in(names)
    if not people or ":" in names or _LOWER_WORDS.search(names):
        return False
    if _MORE_NAMES.match(rest) or ("," in names and len(people) > 1) or (others and not after):
        return True
    following = SENTENCE_END.split("".join(after), maxsplit=1)[0]
    return (
        len(names.split()) <= _MAX_FAMILY_WORDS
        and len(following.split()) > _MIN_TITLE_WORDS
        and not is_published(following)
    )


def _parse_after_date(entry: str) -> EntryFields | None:
    """Parse an entry of the form `Lee, A. (2019). A title.`, without its title if that is one short word before `In`,
    which cannot be told from the end of the names."""
    dated = _AFTER_DATE.search(entry)
    if dated is None:
        return None
    names, rest = entry[: dated.start()], entry[dated.end() :]
    short = EntryFields(authors_in(names)) if _SHORT_TITLE.match(rest) and authors_in(names) else None
    return _split_names_and_title(names, rest) or short


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
    names = [word for word in _LONG_LOWER_WORD.findall(found["names"]) if not PARTICLE.fullmatch(word)]
    return EntryFields((), found["title"]) if len(names) <= _MAX_LOWER_WORDS and may_be_title(found["title"]) else None


def _parse_after_et_al(entry: str) -> EntryFields | None:
    others = _ET_AL.search(entry)
    return _split_names_and_title(entry[: others.start()], entry[others.end() :]) if others else None


def _parse_second_sentence(entry: str) -> EntryFields | None:
    names, *rest = SENTENCE_END.split(entry, maxsplit=1)
    if (
        rest and "," in names and _SHORT_NAME.search(names) and _begins_with_more_names(rest[0])
    ):  # `Ann Lee, Bo Ya. Chen, and Cy Dale. A title`
        more, *rest = SENTENCE_END.split(rest[0], maxsplit=1)
        names = f"{names}. {more}"
    return _split_names_and_title(names, rest[0]) if rest else None


def _parse_without_authors(entry: str) -> EntryFields | None:
    """Parse an entry that begins with its title: `A title. [Online]. Available: …`, `A title. A journal 2019;3:1`."""
    title = SENTENCE_END.split(entry, maxsplit=1)[0]
    rest = entry[len(title) :]
    begins_sentence = (
        _UNNAMED_TITLE.fullmatch(title) and not _INITIAL_INSIDE.match(title) and len(title.split()) > _MIN_WORDS
    )
    is_title = rest.strip() and (begins_sentence or rest.lstrip(" .").startswith("[Online]"))
    return EntryFields((), title) if is_title and may_be_title(title) else None


def _split_names_and_title(names: str, rest: str) -> EntryFields | None:
    """Return the names and, as the title, the sentence after them; otherwise None."""
    people, title = authors_in(names), SENTENCE_END.split(rest, maxsplit=1)[0]
    return EntryFields(people, title.rstrip(" .,")) if people and may_be_title(title) else None


def _title_before_names(entry: str) -> EntryFields | None:
    """Parse an entry of the form `A title (Lee et al., 2019)`."""
    title, bracket, rest = entry.partition(" (")
    named, comma, year = rest.partition(")")[0].rpartition(" ")
    people = () if SENTENCE_END.search(title) else authors_in(named)
    if bracket and comma and people and may_be_title(title) and re.fullmatch(YEAR, year):
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
    if (len(names) == 1 or "," in SENTENCE_END.split(rest, maxsplit=1)[0]) and _begins_with_more_names(rest):
        return None  # `Ann J. Lee, Bo Chen`
    title = _TITLE_END.split(rest, maxsplit=1)[0]
    people = tuple(re.sub(r"^(?:and|&) ", "", name) for name in names if name != "et al")
    return EntryFields(people, title) if may_be_title(title) else None
