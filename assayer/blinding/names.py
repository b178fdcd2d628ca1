"""Patterns for personal names, and functions that parse the people in bylines and labelled lines."""

import re
from typing import NamedTuple

from assayer.blinding.word_lists import load_given_names, split_words

UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽȘȚḌḤṢṬẒΑ-ΩА-Я"
LETTER = r"(?:[^\W\d_][\u0300-\u036f]?)"
"""Pattern for a letter, optionally with a separate combining accent, as in many PDFs."""
_WORD = (
    rf"(?:(?:[DO]['’]|Mc|Mac|al-|Al-|El-)?[{UPPER}]{LETTER}{{1,20}}(?:[-'’](?!s\b){LETTER}{{1,20}}){{0,2}}(?![\w-]))"
)
_INITIAL = rf"(?:[{UPPER}]\.(?:[ -]?[{UPPER}]\.){{0,2}})"
_PARTICLE = (
    r"(?:van der|van den|von der|de la|de los|van|von|de|der|den|del|della|di|da|dos|du|la|le|bin|ibn|al|el|ten|"
    r"ter|zu|d[ei]['’])"
)
RUN_OF_NAMES = re.compile(rf"{_WORD}(?:[ \t]{{1,2}}(?:{_PARTICLE}[ \t])?(?:{_WORD}|{_INITIAL})){{3,40}}")
"""Pattern for four or more capitalised words, which may be several names without separators."""
_BARE_INITIAL = rf"(?:[{UPPER}](?=[ \t][{UPPER}][^\W\d_A-Z]))"
NAME = (
    rf"(?:{_WORD}|{_INITIAL})(?:[ \t]{{1,2}}{_BARE_INITIAL})?"
    rf"(?:[ \t]{{1,2}}(?:{_PARTICLE}[ \t])?(?:{_WORD}|{_INITIAL})){{1,3}}"
)
"""Pattern for a name: two to four capitalised words or initials on one line. Particles may stand between them, and an
initial without a full stop may follow the first word: `Jane Q Roe`."""

PERSONAL_TITLE = (
    r"(?:(?:(?:Assistant|Associate|Adjunct|Full|Distinguished|Visiting)[ ])?(?:Professors?|Profs?\.?|Drs?\.?|Doctor)|"
    r"Mr\.?|Mrs\.?|Ms\.?|Miss|Mx\.?|PD|Priv\.-Doz\.?|Dipl\.-Ing\.?|Ing\.?|Sir|Dame|Herr|Frau|Mme|Sra?\.|Lic\.)"
)
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
PARTICLES = split_words("de' de’ di' di’ van von der den de la del della di da dos du le bin ibn al el ten ter zu")
_WEAK_TITLES = split_words("PD Miss Ms Ms. Doctor Ing Ing.")
"""Ambiguous titles. They have other meanings or begin other names, so they do not identify a person on their own."""
_TITLED = re.compile(rf"\b(?P<title>{PERSONAL_TITLE}) (?P<name>{NAME}|[{UPPER}])")

MARKS = r"(?:\^[\w ,*†‡∗]{1,12}\^|\^[\w*†‡∗]{1,2}(?:,[\w*†‡∗]{1,2}){0,4}|[\d*†‡§¶∗⋆✉¹²³⁴-⁹ᵃ-ᶻ]{1,3}|\[\^\w{1,4}\])"
"""Pattern for a footnote mark after a name."""
DEGREE = (
    r"(?:Ph\.?\s?D\.?|M\.?\s?D\.?|M\.?Sc\.?N?|B\.?Sc\.?N?|M\.?A\.|MPH|MBBS|MBA|M\.?Eng\.?|RN|DPhil|Dr\.-Ing\.|Jr\.?|Sr\.?|"
    r"III?|FRS|FRSC)(?![a-z])"
)
_CARETS = re.compile(r"\^[\w ,*†‡∗]{1,12}\^\*?|\[\^\w{1,4}\]")
_MARKS = re.compile(r"[\d*†‡§¶#,;∗⋆^{}$\\()✉\s¹²³⁴⁵⁶⁷⁸⁹⁰ᵃᵇᶜᵈ]+$")
_SEPARATOR = re.compile(r"\s{0,3}(?:[;,·•|&/\n]|\band\b|\bund\b|\bet\b(?! al)|\by\b)\s{0,3}")
_TITLES = re.compile(rf"^(?:{PERSONAL_TITLE}\s{{1,2}}){{1,3}}")
_DEGREE = re.compile(rf",?\s*\b{DEGREE}\s*$")
_ADDITION = re.compile(rf"{DEGREE}|(?:(?:Senior|Life|Student) )?(?:Member|Fellow)|IEEE|ID|et al\.?")
"""Pattern for items in a list of people that are not names, such as a degree or a membership."""
_WHOLE_NAME = re.compile(rf"^{NAME}$")
_REVERSED = re.compile(
    rf"^(?P<family>{_WORD}),\s(?P<given>(?:{_WORD}|{_INITIAL})(?:\s(?:{_WORD}|"
    rf"{_INITIAL})){{0,2}})$"
)
_FORMS = tuple(
    (re.compile(separator), re.compile(rf"^(?:{form})$"))
    for separator, form in (
        (
            r"\s*(?:;|&|\band\b)\s*",
            rf"(?P<family>{_WORD}),\s(?P<given>(?:{_WORD}|{_INITIAL})(?:\s(?:{_WORD}|{_INITIAL})){{0,2}})",
        ),
        (r"\s*(?:[;,&]|\band\b)\s*", rf"(?P<given>{_INITIAL})\s(?P<family>(?:{_PARTICLE}\s)?{_WORD})"),
        (r"\s*(?:[;,&]|\band\b)\s*", rf"(?P<family>(?:{_PARTICLE}\s)?{_WORD})\s(?P<given>[{UPPER}]{{1,3}})"),
    )
)
"""Separators and name forms in bylines: `Roe, Jane; Poe, Tom`, `J. Roe, T. Poe`, `Roe J, Poe T`."""
_UNSPACED = "㐀-鿿々가-힣ぁ-ヿ"
UNSPACED_NAME = re.compile(rf"^[{_UNSPACED}]{{2,6}}$")
"""Pattern for a name in a script that writes names without spaces: Chinese, Japanese or Korean."""
_IN_UNSPACED_SCRIPT = re.compile(
    rf"^(?=..)(?P<family>[{_UNSPACED}]{{1,6}})(?:[ \u3000](?P<given>[{_UNSPACED}]{{1,4}}))?$"
)
_UNSPACED_WORDS = split_words(
    "摘要 引言 背景 方法 目的 结论 要旨 概要 序論 はじめに 초록 서론 배경 방법 결론 목적 요약"
)
"""Headings in unspaced scripts that are as short as a name."""
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
    Computing Network Consortium Office Agency Board Committee Society Association Union Company Museum Library
    """
)


class Person(NamedTuple):
    given: str
    """First names or initials; empty if only the surname is known."""
    family: str

    @property
    def full(self) -> str:
        return f"{self.given} {self.family}".strip()


def person_of(text: str) -> Person | None:
    """Parse a name, which may have titles, degrees and footnote marks. Returns None if it does not look like a name."""
    bare = _MARKS.sub("", _CARETS.sub("", _TITLES.sub("", text.strip(" *_\t")))) if len(text) <= _MAX_NAME_CHARS else ""
    while (shorter := _MARKS.sub("", _DEGREE.sub("", bare)).strip(" ,*_")) != bare:
        bare = shorter
    if reverse := _REVERSED.match(bare):
        return Person(reverse["given"], reverse["family"])
    if parts := _IN_UNSPACED_SCRIPT.match(bare):
        return None if bare in _UNSPACED_WORDS else Person(parts["given"] or "", parts["family"])
    words = bare.split()
    if not _WHOLE_NAME.match(bare) or NO_SURNAMES & set(words):
        return None
    family = words[-1]
    if family.endswith("."):  # `Roe J.`
        words, family = words[1:], words[0]
        return Person(" ".join(words), family)
    return Person(" ".join(words[:-1]), family)


def people_of_one_form(text: str) -> list[Person]:
    """Return the people in a list of at least two names that all have the same byline form; otherwise an empty list."""
    for separator, form in _FORMS:
        items = [_MARKS.sub("", _CARETS.sub("", item)).strip(" *_") for item in separator.split(text[:_MAX_LIST_CHARS])]
        found = [match for item in items if (match := form.match(item)) and match["family"] not in NO_SURNAMES]
        if 1 < len(found) == len([item for item in items if item]):
            return [Person(match["given"], match["family"]) for match in found]
    return []


def people_in(text: str) -> list[Person]:
    """Return the people named in a byline or a labelled line, in order."""
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
    text = line[:_MAX_LIST_CHARS]
    items = [item for item in _SEPARATOR.split(_CARETS.sub("", text)) if _MARKS.sub("", item).strip(" *_")]
    items = [item for item in items if _ADDITION.fullmatch(_MARKS.sub("", item).strip(" *_")) is None]
    people = [person_of(item) for item in items]
    named = [person for person in people if person is not None]
    titles = sum(bool(re.fullmatch(PERSONAL_TITLE, item.strip(" *_"))) for item in items)
    if not named or len(named) + titles < len(items):
        return False
    marked = any(re.search(r"[^\W\d_][¹²³⁴⁵*†‡∗]|[^\W\d_]\^?\d{1,2}(?:,\d{1,2})*\s*$", item) for item in items)
    return confirmed or (marked and len(items) > 1) or any(map(has_given_name, named))
