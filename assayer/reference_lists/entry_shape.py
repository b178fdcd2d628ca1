"""Shape of an entry in a reference list: the marks before it, the names at its beginning, and its year."""

import re

from assayer.reference_lists.identifiers import ADDRESS
from assayer.text.scripts import ranges

YEAR = r"(?:1[5-9]|20)\d\d[a-z]?"
_MONTH = r"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]{0,6}\.?,? )"
UNREADABLE = re.compile("[\ue000-\uf8ff]")
"""Letter or digit of a font's own, which has no meaning outside it."""
_UNREADABLE = f"{UNREADABLE.pattern}{{4}}"
"""Year in such digits."""
_UNPUBLISHED = (
    r"in\s+press|forthcoming|to\s+appear|(?:currently\s+)?under\s+review|"
    r"(?:manuscript\s+)?in\s+prep(?:aration|\.|(?=\)))|in\s+revision|"
    r"submitted|(?:provisionally )?accepted|"
    r"im\s+(?:druck|erscheinen)|in\s+druck|sous\s+presse|à\s+paraître|en\s+prensa|no\s+prelo|in\s+(?:corso\s+di\s+)?stampa"
)
DATE = (
    rf"[(\[]?{_MONTH}?(?:{YEAR}(?:[-–/](?:{YEAR}|\d\d))?|{_UNREADABLE}|n\. ?d\.|s\. ?[fd]\.|o\. ?J\."
    rf"|(?i:{_UNPUBLISHED}))"
    r"(?:, [^()]{3,25}|,)?[)\]]?"
)
"""Date of an entry, with or without brackets: `(2019, May 3)`, `2019a`, `Sep. 1999`, `(n.d.)`, `[n.d.]`."""
_MAX_NAMES, _MAX_CHARS = 1_400, 1_500
"""Maximum characters of the names before the date of an entry, and of a line in which they are looked for."""
_ENTRY_YEAR = re.compile(
    rf"[(（](?:[^()]{{0,20}}\b)?(?P<a>{YEAR})(?:, [^()]{{3,25}}|,)?[)）]"
    r"|(?<![\d–-])(?<!\bpp)(?<!\bp)[.,;，．。] ?(?:[—–] )?(?P<b>(?:1[5-9]|20)\d\d)[a-z]?(?=[.,;:)，．。:：]|$)"
    r"|\b(?<!\bp\. )(?<!\bpp\. )(?<!pp\. \d{4}[–-])(?<!pages \d{4}[–-])(?<!\d:)(?P<c>(?:1[5-9]|20)\d\d)\b(?![.–-]\d)"
)
_NUMBER_MARK = re.compile(
    r"^\s{0,8}(?:[-*+•–·▪◦] +|\.\. )?"
    r"(?:[\[［【〔]\^?(?P<bracket>\d{1,3})[\]］】〕]:?\s*|[(（](?P<round>\d{1,3})[)）]\s*"
    r"|(?P<dot>\d{1,3})[.．)、]\s+|(?P<cjk>\d{1,3})[.．、](?=[^\W\da-zA-Z])"
    r"|(?P<glued>\d{1,3})(?=[^\W\d_a-z][^\W\d_A-Z]{1,30},? [^\W\d_a-z])|(?P<bare>\d{1,3})\s{1,4}(?=[^\W\d_a-z]"
    r"|(?:van|von|de|del|della|den|der|da|di|du|la|le|ter|ten|el|al) [^\W\d_a-z]))(?=\S)"
)
"""Number before an entry: `[3]`, `(3)`, `3.`, `3 `, `［3］`, and `3` as a superscript directly before the names."""
ITEM_MARK = re.compile(
    r"^\s{0,8}(?:[-*+•–·▪◦] +(?:\[\[\[[^\[\]]{1,60}\]\]\] +)?|(?:\.\. )?\[\^?[\w+:.,&’'*∗ -]{0,60}\]:? +)(?=\S)"
)
"""Bullet or key before an entry: `- `, `[Lee19] `, `[^lee]: `, `.. [Lee19] `, `* [[[lee19]]] `."""
_TAGGED = re.compile(r"@|TY {1,2}- |%0 |PMID- |FN (?:Clarivate|ISI)|PT [A-Z]$|\\bib\{|\\begin\{(?:bibdiv|biblist)\}")
"""Beginning of an entry of a reference manager or a database: BibTeX, RIS, EndNote, PubMed, Web of Science, amsrefs."""
_DATED = re.compile(
    rf"\b{YEAR}\b|\({_UNREADABLE}|\b10\.\d{{4,9}}/|arxiv|\b(?-i:[ns]\. ?d)\.|\(?\b(?:{_UNPUBLISHED})\b|https?://",
    re.IGNORECASE,
)

UPPER = "[" + ranges(code for code in range(0x2000) if chr(code).isupper()) + "]"
_WORD = rf"(?:[dDlLO]['’ʼ])?{UPPER}(?:[^\W\d]|['’ʼ`-]){{0,30}}"
_PARTICLE = (
    r"(?:[Vv]an der|[Vv]an den|[Vv]an de|[Vv]an het|[Vv]an|[Vv]on der|[Vv]on dem|[Vv]on|vom|zu|zur|[Dd]e la|de las|"
    r"de los|[Dd]el|[Dd]ella|[Dd]i|[Dd]a|das|dos|[Dd]os|do|[Dd]u|[Dd]es|den|der|[Tt]er|[Tt]en|te|el|[Aa]l|ibn|bin|ben|"
    r"[Ll]e|[Ll]a|af|av|[Dd]e|[Ss]t\.?|[Mm]ac|Mc|’t|'t)"
)
SURNAME = rf"(?:{_PARTICLE}[ -]){{0,2}}{_WORD}(?:(?:[ -]| y | e | i ){_WORD}){{0,2}}"
_INITIALS = rf"(?:{UPPER}[\w]?\.?(?:[ -]{{0,2}}{UPPER}\.?){{0,4}})"
_GIVEN = rf"{_WORD}(?: (?:{_WORD}|{UPPER}\.)){{0,2}}"
AND_OTHERS = (
    r"(?:(?:et al|et coll|u\. ?a|e\. ?a|y otros|y cols?|e outros|e altri|m\. ?fl|i in|a kol|и др|и соавт|та ін"
    r"|ve (?:ark|diğ|diğerleri))\b\.?)"
)
"""Words after the names of the first authors that stand for the others."""
_NAMES = re.compile(
    rf"(?:{SURNAME},? {_INITIALS}(?=[\s,.;:&(]|$)|{_INITIALS} {SURNAME}(?=[,.;:]| and | & | {AND_OTHERS})"
    rf"|{SURNAME}, {_GIVEN}(?: {_PARTICLE})?(?=[,.;:(]| and | & | ?/ )"
    rf"|{_GIVEN} {SURNAME}(?=[,;.:]| and | & | {AND_OTHERS})"
    rf"|{SURNAME}(?: {AND_OTHERS}|,? and |,? & | \()"
    r"|(?:[\u4e00-\u9fff]{1,6}[·・])?[\u4e00-\u9fff]{2,4}(?=[,，、.．。:：；]| ?\()"
    r"|[가-힣]{2,5}(?=[,，、.．。:：;(]| ?\())"
)
"""Names at the beginning of an entry: `Lee, A.`, `Lee A`, `A. Lee,`, `Lee, Ann,`, `Ann Lee and`, `李世明,`."""
_SAME = re.compile(r"[—―–_-]{2,}")
"""Dashes that stand for the names of the previous entry."""
_DATED_NAMES = re.compile(rf"^(?P<names>[^()]{{2,{_MAX_NAMES}}}?)[\s.,;]\(?{DATE}\)?[.,:;]")
_BRACKETED_DATE = re.compile(rf"^(?P<names>[^()]{{2,{_MAX_NAMES}}}?(?: \([^()]{{2,30}}\))?)[\s.,]{{1,3}}\(?\({DATE}\)")
_DATED_TITLE = re.compile(rf"[“\"][^“”\"]{{8,200}}[”\"] {DATE}[.,]")
"""Title in quotation marks before the date, as Chicago style prints works without authors."""
_DISEASE = re.compile(r"\b[A-Z]{2,8}(?:-[A-Z]{1,4})?-\d{1,2}\b")
"""Name with a number within the name of an organisation: `COVID-19 Working Group`."""
_SENTENCE = re.compile(rf"[^\W\d_]{{4}}[.:] (?!{UPPER}\. {UPPER})")
_CONNECTIVE = (
    r"(?:of|the|for|and|on|in|at|del?|des|du|d[aeo]s?|dell[ae]|la|le|für|der|die|und|y|e|&|"
    r"team|group|project|contributors)"
)
_PART = rf"(?:{_WORD}|{_CONNECTIVE}|\([A-Z][\w&-]{{1,12}}\)|{UPPER}\.)"
_ORGANISATION = re.compile(rf"^{_PART}(?:,? {_PART}){{0,14}}\.?$")
_MAKERS = re.compile(
    r"^[\w.+-]{2,30}(?: [\w.+-]{2,30}){0,3} (?:developers|contributors|maintainers|authors|team|community)\.? "
    rf"\(?{DATE}"
)
"""Organisation that makes software, and the date: `Lean developers. 2024.`"""
_ONLINE = re.compile(rf"^(?:{UPPER}[\w'’.-]{{0,30}} ){{1,6}}\[[Oo]nline\] https?://")
"""Website without a date: `Rust Blog [online] https://…`."""
_EDITORS = re.compile(r"\s*\([Ee]ds?\.\)")
ORGANISATION = re.compile(
    r"\b(?:collab(?:oration|s)?|consorti(?:um|a)|group|team|organi[sz]ation|university|institut(?:e|ion)|ministry|office|"
    r"agency|association|society|council|commission|committee|foundation|department|network|project|cent(?:re|er)s?|bank|"
    r"nations|academy|bureau|board|initiative|corporation|investigators|authors|inc|ltd|gmbh|federation|union|service)\b",
    re.IGNORECASE,
)
"""Words that name an organisation or a collaboration rather than a person."""
_OTHERS = re.compile(rf"\b{AND_OTHERS}")
_LOWER_WORD = re.compile(r"(?<![\w'’‘`´.-])(?=[^\W\d_])(?-i:[a-zß-öø-ÿа-яα-ω])[\w'’-]*")
_BETWEEN = re.compile(
    rf"(?:{_PARTICLE}|and|et|al|und|y|e|i|og|och|и|others|many|contributions|from|u|eds?|editors?|hrsg|"
    r"trans|with|the|of|for|collaboration|collab|"
    r"group|team|consortium|investigators|d['’]\w*|l['’]\w*|jr|pseud|d)",
    re.IGNORECASE,
)
_NO_AUTHOR = re.compile(
    r"^(?:In(?!, [^\W\d_])|Proceedings|Proc|Journal|Vol|Volume|Issue|No|Pp|Retrieved|Available|Accessed|"
    r"Paper presented|Doctoral|Unpublished|Press|University Press|Chapter|Presented|Published|Advance online|Springer|"
    r"Elsevier|Wiley)\b"
)


_ADDRESS = re.compile(r"(?:https?\s?:\s?//\s?|www\.)(?!(?:dx\.)?doi\.org|arxiv\.org)\S", re.IGNORECASE)
_TITLE_AND_ADDRESS = re.compile(r"[^.]{3,200}\.? (?:[Uu][Rr][Ll]:? ?)?https?\s?:")
_YEAR_ALONE = re.compile(rf"\b{YEAR}\b")
_READ = (
    r"\b(?:retrieved|accessed|last (?:accessed|visited|checked)|visited|abgerufen|zugriff|zugegriffen|besucht|consulté|"
    r"cité|consultado|citado|recuperado|accesso|cited|erişim|дата обращения)\b|访问日期|引用日期|閲覧|参照"
)
_VISITED = re.compile(rf"{_READ}|\bavailable (?:at|from|online)\b|\[online\]", re.IGNORECASE)
"""Pattern for words that state when or where a page was read."""
_READ_ON = re.compile(
    rf"(?:{_READ})[^\d;\[\]()]{{0,30}}(?:[^\W_]{{1,12}}[.,]?[ /.-]{{1,2}}){{0,4}}{YEAR}\b"
    rf"|\[{YEAR}-\d\d-\d\d\]",
    re.IGNORECASE,
)
"""Date on which a page was read."""


_PUBLISHED = re.compile(
    rf"""\b(?:vol|nr?|no|pp?|v|bd|t|art)\.?\ ?\d                       # vol. 3, p. 9
    | (?<![^\W\d_])\d{{1,4}}\ ?\((?!{YEAR}[–-])\d{{1,4}}(?:[-–/]\d{{1,3}})?\)               # 3(2), 3 (2019)
    | (?<![\d/-])(?!{YEAR}\b)[a-z]?\d{{1,6}}\ ?[-–—]{{1,2}}\ ?[a-z]?\d{{1,6}}(?![\d-])   # 1–9
    | [.;,]\ ?\d{{4}};\d                                               # 2019;3
    | (?-i:{UPPER})\.,?\ \({YEAR}\)[.,:]?\                             # A. (2019).
    | 10\.\d{{4,9}}/\S | \barxiv\b | https?://
    | \b(?:proceedings|proc\.|journal|transactions|conference\ on|press\b|verlag|springer|elsevier|wiley)
    | \b(?:thesis|dissertation)\b[^.]{{0,60}},\ (?:1[5-9]|20)\d\d
    | [”»"],?\ (?:in|en|dans|em)\ (?:[“«"]|(?-i:{UPPER}))                # “A title,” in A book
    | \b(?-i:[Ii]n):\ [^\W\d_]
    | [.,]\ (?-i:{UPPER})[\w.\ ]{{1,25}}:\ (?-i:{UPPER})[\w&\ ]{{3,40}}[.,]       # Oslo: Post Press,
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Pattern for what only works have: volume, issue and pages, an identifier, proceedings, place and publisher, or a year
in brackets after initials."""
_MIN_WORDS, _LOWER, _MAX_MARKS_PER_WORD = 12, 0.6, 0.3
"""Minimum number of words of prose, minimum share of words in lower case, and maximum of punctuation per word."""


def year_of(entry: str) -> int | None:
    """Return the year in brackets or between full stops, otherwise the last year; years in an address or an identifier
    and the date on which a page was read are ignored."""
    found = list(_ENTRY_YEAR.finditer(_READ_ON.sub("", ADDRESS.sub("", entry))))
    for kind in ("a", "b", "c"):
        years = [match[kind] for match in found if match[kind]]
        if years:
            return int((years[-1] if kind == "c" else years[0])[:4])
    return None


def is_prose(text: str) -> bool:
    """Return whether a text is sentences rather than an entry. An entry has more capitals, numbers and punctuation."""
    words = re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", text)
    marks = len(re.findall(r"[^\w\s'’-]|\d+", text))
    return (
        len(words) >= _MIN_WORDS
        and sum(word.islower() for word in words) >= _LOWER * len(words)
        and marks <= _MAX_MARKS_PER_WORD * len(words)
    )


def is_published(entry: str) -> bool:
    """Return whether an entry says where the work appeared."""
    return bool(_PUBLISHED.search(entry))


def begins_with_names(line: str) -> bool:
    """Return whether a line begins with the name of a person, or with dashes that stand for names."""
    text = line.strip()
    return bool(_SAME.match(text) or (_NAMES.match(text) and not _NO_AUTHOR.match(text)))


def strip_mark(line: str) -> str:
    """Return a line without the number, bullet or key before its entry."""
    for mark in (_NUMBER_MARK, ITEM_MARK):
        if match := mark.match(line):
            return line[match.end() :]
    return line


def begins_entry(line: str) -> bool:
    """Return whether a line begins with a list item mark, or like an entry."""
    return bool(_NUMBER_MARK.match(line) or ITEM_MARK.match(line) or begins_with_names(line) or is_record(line))


def is_record(line: str) -> bool:
    """Return whether a line begins an entry in the format of a reference manager or a database."""
    return bool(_TAGGED.match(line.lstrip()))


def entry_number(line: str) -> tuple[str, int] | None:
    """Return the style and number of an entry's label, such as `[3]` or `3.`; None if it has no numbered label."""
    match = _NUMBER_MARK.match(line)
    if match is None:
        return None
    return next((style, int(number)) for style, number in match.groupdict().items() if number)


def is_web_page(entry: str) -> bool:
    """Return whether an entry is a web page: it has an address and says when or where it was read, or is only a title
    and an address."""
    is_read = _VISITED.search(entry) is not None
    return bool(_ADDRESS.search(entry)) and (
        is_read or (_TITLE_AND_ADDRESS.match(entry) is not None and _YEAR_ALONE.search(ADDRESS.sub("", entry)) is None)
    )


def has_year_or_link(entry: str) -> bool:
    """Return whether an entry has a year, an identifier or a URL. Words such as “in press” count as a year."""
    return bool(_DATED.search(entry))


def reads_like_entry(line: str) -> bool:
    """Return whether a line begins with names followed by a date. This is typical of entries and rare in other
    lines."""
    text = strip_mark(line).strip()[:_MAX_CHARS]
    if _NO_AUTHOR.match(text):
        return False
    if any(shape.match(text) for shape in (_DATED_TITLE, _MAKERS, _ONLINE)):
        return True
    bracketed = _BRACKETED_DATE.match(text)
    dated = [match["names"] for match in (_DATED_NAMES.match(text), bracketed) if match]
    if begins_with_names(text) and any(map(_holds_only_names, dated)):
        return True
    if bracketed is None:
        return False
    names = _EDITORS.sub("", bracketed["names"]).strip(" .,")
    people = names.count(",") > 1 and names[:1].isupper() and _holds_only_names(names)
    return people or _ORGANISATION.match(names) is not None


def is_organisation(text: str) -> bool:
    """Return whether a text reads like the name of an organisation: capitalised words, and others or an acronym."""
    return _ORGANISATION.match(text) is not None and re.search(r" [^\W\d_A-Z]| \([A-Z]", text) is not None


def begins_with_date(line: str) -> bool:
    """Return whether a line itself begins with names, a date in brackets and the end of a sentence."""
    match = _BRACKETED_DATE.match(line.strip())
    return (
        match is not None and line.strip()[match.end() :][:1] in (".", ",", ":") and _holds_only_names(match["names"])
    )


def is_names_and_date(piece: str) -> bool:
    """Return whether a piece of an entry is only its names and the date after them."""
    match = _BRACKETED_DATE.match(piece)
    return match is not None and not piece[match.end() :].strip(" .,:") and _holds_only_names(match["names"])


def _holds_only_names(text: str) -> bool:
    """Return whether a text has no numbers, no end of a sentence such as in `Boston: Post Press. Lee, A.`, and no
    lower-case words other than those that occur in and between names."""
    text = _OTHERS.sub("", f"{text}.")  # the full stop may have been read as the separator before the date
    if re.search(r"\d", _DISEASE.sub("", text)) or _SENTENCE.search(text):
        return False
    return all(_BETWEEN.fullmatch(word) for word in _LOWER_WORD.findall(text))
