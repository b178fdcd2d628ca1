"""Names in scripts without capitals: Chinese, Japanese, Korean, Arabic, Persian and Hebrew."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import load_given_names, load_surnames, split_words

HAN, KANA, HANGUL = "㐀-鿿々", "ぁ-ヿ", "가-힣"
UNSPACED = f"{HAN}{KANA}{HANGUL}"
_RIGHT_TO_LEFT = "\u05d0-\u05ea\u0620-\u065f\u066e-\u06d3\u06fa-\u06ff"
RIGHT_TO_LEFT_WORD = rf"(?:[{_RIGHT_TO_LEFT}](?:[{_RIGHT_TO_LEFT}]|\u200c|['׳״־-](?=[{_RIGHT_TO_LEFT}])){{1,20}})"
CASELESS_LETTER = r"[\u0590-\u06ff\u0900-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
CASELESS = re.compile(CASELESS_LETTER)
"""Pattern for letters in scripts without capitals."""
TITLE_AFTER = (
    r"(?:名誉教授|准教授|副教授|教授|助教授|助教|讲师|講師|副研究员|研究员|研究員|博士生|硕士生|博士|硕士|老师|老師|同学|同學|"
    r"院士|先生|女士|さん|氏|様|부교수|조교수|교수님|교수|박사님|박사|석사|연구원|선생님|선생|씨)"
)
"""Pattern for a title after a Chinese, Japanese or Korean name."""
TITLE_BEFORE = (
    r"(?:(?:[أا]\.? ?)?د\.|[أا]\. ?(?:م\. ?)?د\.|م\.|(?:ال)?دكتورة?|(?:ال)?[أا]ستاذة?|(?:ال)?مهندسة?|دکتر|مهندس|"
    r"פרופ['׳]|פרופסור|ד[\"״]ר|גב['׳]|מר)"
)
"""Pattern for a title before an Arabic, Persian or Hebrew name."""
_RAISED = "¹²³⁴⁵⁶⁷⁸⁹⁰ᵃᵇᶜᵈ*†‡ \t"
_TITLES = re.compile(rf"^(?:{TITLE_BEFORE}\s{{0,2}}/?\s{{0,2}}){{1,3}}(?=[{_RIGHT_TO_LEFT}])|\s?{TITLE_AFTER}$")
_IN_BRACKETS = re.compile(r"\s?[(（][^()（）]{0,60}[)）]")
_UNSPACED_NAME = re.compile(rf"(?=..)(?P<family>[{UNSPACED}]{{1,6}})(?:[ \u3000](?P<given>[{UNSPACED}]{{1,4}}))?")
_RIGHT_TO_LEFT_NAME = re.compile(rf"{RIGHT_TO_LEFT_WORD}(?: {RIGHT_TO_LEFT_WORD}){{1,4}}")
_KANA_AFTER_HAN = re.compile(rf"(?P<family>[{HAN}]{{1,3}})(?P<given>[ぁ-んァ-ヶー]{{2,5}})")
"""Pattern for a Japanese name whose first name is written in kana: `樫尾みなみ`."""
_JOINED = split_words("عبد أبو ابو بن ابن بنت آل אבו בן בר")
"""Words that form a name together with the next one."""
_NO_NAMES = re.compile(
    "摘要|引言|前言|背景|方法|方案|目的|目标|意义|内容|路线|设计|计划|安排|预算|结果|结论|讨论|分析|综述|现状|创新|基础|条件|进度|文献|附录|"
    "问题|假设|数据|实验|模型|评价|评估|风险|影响|贡献|局限|要旨|概要|序論|はじめに|計画|結果|考察|課題|研究|"
    "초록|서론|배경|방법|결론|목적|요약|결과|연구|계획|분석|내용|자료|평가"
)
"""Pattern for words in headings, which can be as short as a name."""
_MAX_FORMS = 60
_AFTER_JAPANESE_SURNAME = r"(?=[がはをのとにへもらや、。，）)]|氏|教授|准教授|博士|さん|先生|\s|$)"


def parse_caseless_name(text: str) -> Person | None:
    """Parse a name in a script without capitals, which may have titles. Returns None if it does not have the form of a
    name."""
    bare = _TITLES.sub("", _IN_BRACKETS.sub("", text.strip(_RAISED))).strip(_RAISED)
    if kana := _KANA_AFTER_HAN.fullmatch(bare):
        return Person(kana["given"], kana["family"])
    if parts := _UNSPACED_NAME.fullmatch(bare):
        return None if _NO_NAMES.search(bare) else Person(parts["given"] or "", parts["family"])
    if _RIGHT_TO_LEFT_NAME.fullmatch(bare) is None:
        return None
    words = bare.split(" ")
    start = -2 if len(words) > 2 and words[-2] in _JOINED else -1
    return Person(" ".join(words[:start]), " ".join(words[start:]))


def is_caseless(person: Person) -> bool:
    return CASELESS.match(person.family) is not None


def has_known_part(person: Person) -> bool:
    """Return whether a name in a script without capitals begins with a known surname (Chinese, Japanese, Korean) or
    with a known first name (Arabic, Persian, Hebrew)."""
    if not re.match(f"[{UNSPACED}]", person.family):
        return person.given.split(" ")[0] in load_given_names()
    whole = person.family + person.given
    return any(whole[:length] in load_surnames() and 0 < len(whole) - length < 3 for length in (1, 2, 3))


def find_caseless_mentions(text: str, people: Iterable[Person]) -> Iterator[MaskSpan]:
    """Yield mentions of names in scripts without capitals, also if a particle or suffix is attached."""
    forms = dict.fromkeys(form for person in people if is_caseless(person) for form in _forms_of(person))
    for form in list(forms)[:_MAX_FORMS]:
        yield from (MaskSpan(*match.span(), "name") for match in re.finditer(form, text))


def _forms_of(person: Person) -> Iterator[str]:
    """Yield patterns for the forms in which a text mentions the person, longest first."""
    given, family = re.escape(person.given), re.escape(person.family)
    if not re.match(f"[{UNSPACED}]", person.family):
        start, end = rf"(?<![{_RIGHT_TO_LEFT}])(?:[وفبلك]|[והבלמש]|ול)?", rf"(?![{_RIGHT_TO_LEFT}])"
        yield rf"{start}{given} {family}{end}"
        if len(person.family) > 3:
            yield rf"{start}{family}{end}"
            if person.family.startswith("ال"):
                yield rf"(?<![{_RIGHT_TO_LEFT}])و?لل{re.escape(person.family[2:])}{end}"
        return
    alone = rf"(?<![{HANGUL}])" if re.match(f"[{HANGUL}]", person.family) else ""
    if person.given:
        yield rf"{alone}{family}[ \u3000]?{given}"
        if len(person.family) > 1:
            yield alone + family
        if len(person.given) > 2 or has_known_part(Person("", person.given)):
            yield alone + given
    elif len(person.family) > 1:
        yield alone + family
        surname = _surname_of(person.family)
        yield rf"{alone}{surname}(?={TITLE_AFTER})"
        if len(person.family) == 4 and re.match(f"[{HAN}]{{4}}$", person.family):
            yield rf"{person.family[:2]}{_AFTER_JAPANESE_SURNAME}"


@cache
def _surname_of(name: str) -> str:
    """Return the surname at the beginning of a name written without a space."""
    return next((name[:length] for length in (3, 2) if name[:length] in load_surnames()), name[:1])
