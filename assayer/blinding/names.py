"""Patterns for personal names, and functions that parse the people in bylines and labelled lines."""

import itertools
import re
from collections.abc import Sequence

from assayer.blinding.caseless_names import has_known_part, is_caseless, parse_caseless_name
from assayer.blinding.person import Person
from assayer.blinding.word_lists import load_given_names, split_words
from assayer.text.scripts import ranges

_CASED = [*range(0x530), *range(0x1E00, 0x2000)]
"""Codes of the Latin, Greek and Cyrillic scripts."""
UPPER = ranges(code for code in _CASED if chr(code).isupper())
LOWER = ranges(code for code in _CASED if chr(code).islower() and chr(code).isalpha())
"""Capitals and lower-case letters of scripts that have both, for a regular expression class."""
LETTER = r"(?:[^\W\d_][\u0300-\u036f]?)"
"""Pattern for a letter, optionally with a separate combining accent, as in many PDFs."""
_WORD = (
    rf"(?:(?:[{UPPER}]['’](?=[{UPPER}])|Mc|Mac|al-|Al-|"
    rf"El-)?[{UPPER}]{LETTER}{{1,20}}(?:[-'’](?!s\b){LETTER}{{1,20}}){{0,2}}(?!_?[^\W_]|-))"
)
_INITIAL = rf"(?:[{UPPER}]\.(?:[ -]?[{UPPER}]\.){{0,2}})"
PARTICLE = (
    r"(?:van der|van den|van de|van 't|von der|von dem|de las|de los|de la|van|von|vom|zum|zur|dos|das|de|der|den|"
    r"des|del|della|dello|delle|dalla|degli|dei|do|di|da|du|las|los|la|le|lo|bint|bin|ibn|ben|abu|al|el|ten|ter|te|tot|"
    r"op|af|av|zu|d[ei]['’])"
)
RUN_OF_NAMES = re.compile(rf"{_WORD}(?:[ \t]{{1,2}}(?:{PARTICLE}[ \t])?(?:{_WORD}|{_INITIAL})){{3,40}}")
"""Pattern for four or more capitalised words, which may be several names without separators."""
_BARE_INITIAL = rf"(?:[{UPPER}](?=[ \t][{UPPER}][^\W\d_A-Z]))"
_NEXT = rf"(?:[ \t]{{1,2}}|(?<=[{UPPER}]\.))(?:{PARTICLE}[ \t]|d['’](?=[{UPPER}]))?(?:{_WORD}|{_INITIAL})"
_SECOND_SURNAME = (
    rf"(?:[ \t][yei][ \t](?!Dr|Prof|Lic|Ing|Sr|Mtr|"
    rf"Mg)(?:(?:{PARTICLE})[ \t])?{_WORD}(?![ \t](?:{PARTICLE}[ \t])?[{UPPER}]))"
)
"""Pattern for the second surname in `Zubiaurre y Larrondo`. In `Ana Roe y Eva Poe`, another name follows."""
NAME = rf"(?:{_WORD}|{_INITIAL})(?:[ \t]{{1,2}}{_BARE_INITIAL})?(?:{_NEXT}){{1,4}}{_SECOND_SURNAME}?"
"""Pattern for a name: two to five capitalised words or initials on one line. Particles may stand between them, and an
initial without a full stop may follow the first word: `Jane Q Roe`."""

_SCIENCES = r"(?:[а-яіїєґ]{1,5}\.?[ -]?(?:[а-яіїєґ]{1,4}\.)?|[а-яіїєґ-]{6,30})"
_CYRILLIC_TITLE = (
    r"(?:[Пп]роф(?:\.|есор(?:а|у|ом|і)?|ессор(?:а|у|ом|е)?)|[Дд]оц(?:\.|ент(?:а|у|ом|е)?)|[Аа]кад(?:\.|емик(?:а|у|ом|е)?)|"
    rf"[Чч]л(?:\.|ен)[ -]корр?(?:\.|еспондент)|[Дд]-р|[Дд]октор(?:а|у|ом)?|[дк]\. ?{_SCIENCES} ?н\.|"
    rf"(?:[Кк]анд(?:\.|идат)|[Дд]окт(?:\.|ор)) {_SCIENCES} ?(?:наук|н\.)|[смвг]\.н\.с\.)"
)
PERSONAL_TITLE = (
    r"(?:(?:(?:Assistant|Associate|Adjunct|Full|Distinguished|Visiting)[ ])?(?:Professors?|Profs?\.?|"
    r"Dr\.-Ing\.|Drs?\.?|Doctor)|habil\.|"
    r"Mr\.?|Mrs\.?|Ms\.?|Miss|Mx\.?|PD|Priv\.-Doz\.?|Dipl\.-Ing\.?|Ing\.?|Sir|Dame|Herrn?|Frau|Mme|Mlle|Sra?\.|Srta\.|Lic\.|"
    r"Profa\.?|Prof[ªº]\.?|Prof\.[ªº]|Dr[ªº]\.?|Dr\.[ªº]|Dra\.|Mtr[oa]\.|Mg\.|Lcd[oa]\.|Licd[oa]\.|Arq\.|Eng\.ª?|"
    r"Dott\.(?:ssa)?|Prof\.ssa|(?:Univ|Jun|apl)\.-? ?Prof\.|Mgr\.|RNDr\.|MUDr\.|PhDr\.|JUDr\.|"
    rf"Doç\.|Öğr\.(?: Gör\.)?|Arş\. Gör\.|Pr\.|{_CYRILLIC_TITLE})"
)
_LOCAL_TITLE = (
    r"(?:dr hab\.|dr|mgr|lic\.|inż\.|prof\.|doc\.|doç\.|ir\.|ing\.|drs\.|dott\.(?:ssa)?|prof\.ssa|dhr\.|mevr\.)"
)
"""Pattern for a title in lower case. Outside of labelled lines, it may also end a sentence."""
PROSE_TITLE = (
    r"(?:dr hab\.|dr\.?|mgr|inż\.|hab\.|prof\.(?:ssa)?|profa\.|dra\.|dott\.(?:ssa)?|drs\.|ir\.|dhr\.|mevr\.|"
    r"[Mm]evrouw|[Mm]eneer|"
    r"doctora|doctoresse|[Ss]eñora?|[Ss]ignora|sig\.(?:ra|na)?|sra?\.|[Pp]ani|[Pp]anu|pana|panem|don|[Dd]oña|[Mm]onsieur|[Mm]adame|Professeure?|"
    r"[Pp]rofessoressa|[Pp]rofesora|[Dd]outora?|Dott\.ssa|Sig\.(?:ra)?|Hr\.|Fru|Dhr\.|Mevr\.|Drs\.|M\.Sc\.|MSc\.?)"
)
"""Pattern for a title that occurs before names in sentences, in languages other than English."""
ROLE = (
    r"(?:(?:(?:assistant|associate|full|adjunct|visiting|distinguished|endowed|chaired|emeritus|tenured|tenure-track|"
    r"senior|junior|lead|principal|chief|early-career|mid-career|first-year|second-year|third-year|fourth-year|"
    r"final-year|newly appointed|world-leading|renowned|leading|award-winning|eminent|young)[ -]){0,3}"
    r"(?:professor(?: emerit(?:us|a))?|lecturer|reader|faculty member|research (?:fellow|scientist|associate|"
    r"assistant|"
    r"engineer|professor|director|group leader)|group leader|staff scientist|scientist|post-?doc(?:toral)?"
    r"(?: (?:researcher|fellow|scholar|associate))?|(?:ph\.?d\.?|doctoral|graduate|master'?s|undergraduate|"
    r"m\.?sc\.?) "
    r"(?:student|candidate|researcher)|doctorand|nobel laureate|department (?:head|chair)|chair of [\w ]{2,30}|"
    r"independent researcher|early-career researcher|fellow of the royal society|dean|head of (?:department|group)))"
)

ROLE_WORDS = re.compile(rf"\b{ROLE}\b", re.I)
PARTICLES = split_words(PARTICLE.strip("(?:)").replace("|", " ")) | split_words("de' de’ di' di’ y e i")
_WEAK_TITLES = split_words("PD Miss Ms Ms. Doctor Ing Ing.")
"""Ambiguous titles. They have other meanings or begin other names, so they do not identify a person on their own."""
_TITLED = re.compile(rf"\b(?P<title>{PERSONAL_TITLE}) (?P<name>{NAME}|[{UPPER}])")

MARKS = (
    r"(?:\^\([\w,*†‡∗]{1,12}\)|"
    r"\^[\w ,*†‡∗]{1,12}\^|\^[\w*†‡∗]{1,2}(?:,[\w*†‡∗]{1,2}){0,4}|[\d*†‡§¶∗⋆✉¹²³⁴-⁹ᵃ-ᶻ]{1,3}|\[\^\w{1,4}\])"
)
"""Pattern for a footnote mark after a name."""
DEGREE = (
    r"(?:Ph\.?\s?D\.?|M\.?\s?D\.?|M\.?Sc\.?N?|B\.?Sc\.?N?|M\.?A\.|MPH|MBBS|MBA|M\.?Eng\.?|RN|DPhil|Dr\.-Ing\.|Jr\.?|Sr\.?|"
    r"III?|FRS|FRSC|CSc\.?|DrSc\.?)(?![a-z])"
)
_CARETS = re.compile(r"\^\([\w,*†‡∗]{1,12}\)|\^[\w ,*†‡∗]{1,12}\^\*?|\[\^\w{1,4}\]")
_MARKS = re.compile(r"[\d*†‡§¶#,;∗⋆^{}$\\()✉\s¹²³⁴⁵⁶⁷⁸⁹⁰ᵃᵇᶜᵈ]+$")
_SEPARATOR = re.compile(
    r"\s{0,3}(?:[;,·•|&/\n、，；・،؛]|\b(?:and|und|et(?! al)|oraz|och|og|ja|ve|en|és|și|dan|và|и|та|και)\b"
    r"|\b[yeia]\b(?= [^\s,;]{2,30} [^\s(]{2})"
    r"|(?<=[\u3040-\u9fff\uac00-\ud7af])[ \u3000]{2,}"
    r"|(?<=[\u0590-\u06ff]{3})\s+[وו](?=[\u0590-\u06ff]{2,20} [\u0590-\u06ff]{2}))\s{0,3}"
)
_TITLES = re.compile(rf"^(?:(?:{PERSONAL_TITLE}|{_LOCAL_TITLE}),?\s{{1,2}}){{1,4}}")
_DEGREE = re.compile(rf",?\s*\b{DEGREE}\s*$")
_ADDITION = re.compile(rf"{DEGREE}|(?:(?:Senior|Life|Student) )?(?:Member|Fellow)|IEEE|ID|et al\.?")
"""Pattern for items in a list of people that are not names, such as a degree or a membership."""
_WHOLE_NAME = re.compile(rf"^{NAME}$")
_REVERSED = re.compile(
    rf"^(?P<family>{_WORD}),\s(?P<given>(?:{_WORD}|{_INITIAL})(?:\s(?:{_WORD}|"
    rf"{_INITIAL})){{0,2}})$"
)
_AND = r"\s*(?:[;,&/]|\b(?:and|et|und|y|e)\b)\s*"
_CAPITALS = rf"(?:[{UPPER}](?:['’-]?[{UPPER}]){{1,20}})"
_MIXED = rf"(?:[{UPPER}][{LOWER}]{LETTER}{{0,20}}(?:-{LETTER}{{2,20}})?)"
CAPITALS_FIRST = re.compile(
    rf"^[ \t]{{0,4}}(?:[-*•] )?(?P<name>{_CAPITALS}(?: {_CAPITALS}){{0,3}}, (?P<given>[{UPPER}][{LOWER}]{{1,20}})"
    rf"(?:[ -](?:{_MIXED}|{_INITIAL})){{0,2}})(?=[ \t]*(?:[(|:–—-]|$))",
    re.M,
)
"""Pattern for a line that begins with a surname in capitals before a first name: `DE LA ROE, Jane (PI)`."""
_REVERSED_CAPITALS = re.compile(rf"^(?P<family>{_CAPITALS}(?: {_CAPITALS}){{0,3}}),\s(?P<given>[^,]+)$")
_FORMS = tuple(
    (re.compile(separator), re.compile(rf"^(?:{form})$"))
    for separator, form in (
        (
            r"\s*(?:;|&|\band\b)\s*",
            rf"(?P<family>{_WORD}),\s(?P<given>(?:{_WORD}|{_INITIAL})(?:\s(?:{_WORD}|{_INITIAL})){{0,2}})",
        ),
        (r"\s*(?:[;,&]|\band\b)\s*", rf"(?P<given>{_INITIAL})\s(?P<family>(?:{PARTICLE}\s)?{_WORD})"),
        (r"\s*(?:[;,&]|\band\b)\s*", rf"(?P<family>(?:{PARTICLE}\s)?{_WORD})\s(?P<given>[{UPPER}]{{1,3}})"),
        (
            _AND,
            rf"(?P<family>{_CAPITALS}(?:\s{_CAPITALS}){{0,2}})\s(?P<given>{_MIXED}(?:\s(?:{_MIXED}|{_INITIAL})){{0,2}})",
        ),
        (
            _AND,
            rf"(?P<given>{_MIXED}(?:\s(?:{_MIXED}|{_INITIAL})){{0,2}})\s(?P<family>{_CAPITALS}(?:\s{_CAPITALS}){{0,2}})",
        ),
    )
)
"""Separators and name forms in bylines: `Roe, Jane; Poe, Tom`, `J. Roe, T. Poe`, `Roe J, Poe T`, `ROE Jane, POE Tom`,
`Jane ROE, Tom POE`."""
_IN_BRACKETS = re.compile(r" \([^()\n]{1,40}\)(?=\s*(?:[,;&]|and\b|$))")
_AMOUNT = re.compile(r"(?<![\w,])\d{1,3}[.,]\d{3}\b")
_AFTER_INITIAL = re.compile(rf"(?<=[{UPPER}]\.)(?=[{UPPER}]{LETTER}{{2}})")
_ELISION = re.compile("^d['’]")
_PATRONYMIC = re.compile(r"(?:вич(?:а|у|ем|е)?|[вч]н(?:а|ы|е|у|ой|і|ою)|оглы|кызы)$")
_MAX_LIST_CHARS = 600
_MAX_NAME_CHARS = 300
NO_SURNAMES = split_words(
    """
    Dr Drs Prof Profs Professor Professors Doctor Mr Mrs Ms Miss Sir University Institute College Department
    School Faculty Laboratory Center Centre Hospital Research Group Lab Team Learning Models Model Networks
    Network Language Analysis Systems Science Sciences Engineering Data Method Methods Theory Study Plan
    Proposal Project Abstract Introduction Problem Framework Approach Detection Generation Optimization
    Optimisation Large Neural Deep Machine Reasoning Evaluation Foundation Council Ministry Grant Tech State
    Prize Award Fellowship Programme Program Street Road Avenue Facility Section Site Core Service Services
    Initiative Undertaking Nations Investigator Investigators Plains Spectrometer Microscopy Proteomics Chemistry
    Physics Biology Mathematics User Admin Administrator Owner Author Microsoft Windows Writer Page
    Commission Fund Funds Trust Authority Alliance Forum Partnership Partners Platform Ltd Inc GmbH
    Personnel Computing Consortium Office Agency Board Committee Society Association Union Company Museum Library
    """
)


OPENER = re.compile(
    r"(?i:auch|(?:ihr|sein|dies|jen|kein|unser|mein|jed|eigen|allgemein|manch|solch|welch|viel|ander|weiter|bisherig|folgend|vorliegend|"
    r"neu|geplant)e[rnsm]?|nach|laut|gemäß|seit|zur?|zum|"
    r"selon|d['’]après|depuis|pour|chez|notre|nos|cette?|ces|leurs?|lors|"
    r"según|desde|para|nuestr[oa]s?|est[ea]s?|como|segundo|conforme|noss[oa]s?|ess[ea]s?|"
    r"secondo|quest[oaie]|nostr[oaie]|dopo|presso|volgens|deze|onze|sinds|naar|według|zdaniem|nasz[ae]?|podle|enligt|ifølge)"
)
"""Pattern for words that begin sentences in other languages."""


def person_of(text: str) -> Person | None:
    """Parse a name, which may have titles, degrees and footnote marks. Returns None if it does not look like a name."""
    bare = _MARKS.sub("", _CARETS.sub("", _TITLES.sub("", text.strip(" *_\t")))) if len(text) <= _MAX_NAME_CHARS else ""
    while (shorter := _MARKS.sub("", _DEGREE.sub("", bare)).strip(" ,*_")) != bare:
        bare = shorter
    if caseless := parse_caseless_name(bare):
        return caseless
    bare = _AFTER_INITIAL.sub(" ", bare)
    if reverse := _REVERSED.match(bare) or _REVERSED_CAPITALS.match(bare):
        return Person(reverse["given"], reverse["family"])
    words = bare.split()
    if not _WHOLE_NAME.match(bare) or NO_SURNAMES & set(words):
        return None
    number = _count_surnames_first(words)
    if number:
        return Person(" ".join(words[number:]), " ".join(words[:number]))
    return Person(" ".join(words[:-1]), _ELISION.sub("", words[-1]))


def _count_surnames_first(words: Sequence[str]) -> int:
    """Return the number of words of the surname if it comes first, as in `Roe J.`, `ROE Jane`, and names with a
    patronymic at the end; otherwise 0."""
    if words[-1].endswith(".") or (len(words) == 3 and _PATRONYMIC.search(words[-1])):
        return 1
    capitals = list(itertools.takewhile(lambda word: word.isupper() and len(word) > 1 and word[-1] != ".", words))
    rest = words[len(capitals) :]
    if not capitals or not rest or any(word.isupper() and word[-1] != "." for word in rest):
        return 0
    return len(capitals) if any(len(word) > 2 for word in capitals) or is_given_name(rest[0]) else 0


def people_of_one_form(text: str) -> list[Person]:
    """Return the people in a list of at least two names that all have the same byline form; otherwise an empty list."""
    for separator, form in _FORMS:
        bare = _IN_BRACKETS.sub("", text[:_MAX_LIST_CHARS])
        items = [_MARKS.sub("", _CARETS.sub("", item)).strip(" *_") for item in separator.split(bare)]
        found = [match for item in items if (match := form.match(item)) and match["family"] not in NO_SURNAMES]
        if 1 < len(found) == len([item for item in items if item]):
            return [Person(match["given"], match["family"]) for match in found]
    return []


def people_in(text: str) -> list[Person]:
    """Return the people named in a byline or a labelled line, in order."""
    text = _IN_BRACKETS.sub("", text)
    if listed := people_of_one_form(text):
        return listed
    items = [item for item in _SEPARATOR.split(text[:_MAX_LIST_CHARS]) if item.strip()]
    whole = person_of(text) if text.count(",") == 1 and ";" not in text else None
    if whole is not None and len(items) == 2 and all(" " not in item.strip() for item in items):
        return [whole]  # `Roe, Jane`
    return [person for item in items if (person := person_of(item)) is not None]


def is_given_name(word: str) -> bool:
    """Return whether the word is a known first name, even if written in capitals."""
    return word in load_given_names() or (word.isupper() and len(word) > 1 and word.capitalize() in load_given_names())


def has_given_name(person: Person) -> bool:
    """Return whether a name has a known first name, or a known surname if its script writes surnames first."""
    if is_caseless(person):
        return has_known_part(person)
    return any(map(is_given_name, re.split(r"[ -]", person.given))) or is_given_name(person.given)


def is_sure_title(titles: str) -> bool:
    """Return whether any of the titles identifies a person. In `Prof. Roe` it does; in `PD Control` or `Miss Rate` it
    does not."""
    return any(word not in _WEAK_TITLES for word in titles.split())


def has_titled_person(text: str) -> bool:
    return any(
        is_sure_title(match["title"]) or ((person := person_of(match["name"])) is not None and has_given_name(person))
        for match in _TITLED.finditer(text)
    )


def is_list_of_people(line: str, confirmed: bool) -> bool:
    """Return whether a line contains only names. Unless the surrounding lines confirm this (`confirmed`), a known first
    name or a footnote mark after a name is required."""
    text = _IN_BRACKETS.sub("", line[:_MAX_LIST_CHARS])
    items = [item for item in _SEPARATOR.split(_CARETS.sub("", text)) if _MARKS.sub("", item).strip(" *_")]
    items = [item for item in items if _ADDITION.fullmatch(_MARKS.sub("", item).strip(" *_")) is None]
    people = [person_of(item) for item in items]
    named = [person for person in people if person is not None]
    titles = sum(bool(re.fullmatch(PERSONAL_TITLE, item.strip(" *_"))) for item in items)
    if not named or len(named) + titles < len(items) or _AMOUNT.search(text):
        return False
    marked = any(re.search(r"[^\W\d_][¹²³⁴⁵*†‡∗]|[^\W\d_]\^?\d{1,2}(?:,\d{1,2})*\s*$", item) for item in items)
    return confirmed or (marked and len(items) > 1) or any(map(has_given_name, named))
