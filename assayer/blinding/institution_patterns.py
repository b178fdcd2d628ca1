"""Find institutions as texts write them: `the University of X`, `Department of Y, Z University`,
`at MIT`."""

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence
from functools import cache

from assayer.blinding.names import ROLE, UPPER
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import institutions

_WORD = rf"(?:(?:St\. )?[{UPPER}][\w'’&-]{{1,25}})"
_NOT_FIRST = (
    r"(?!(?:The|At|In|From|Our|We|With|And|For|This|That|A|An|By|Of|To|Each|Every|Any|Many|Most|Some|All|If|When|"
    r"Community|Electoral|Open|Junior|Medical|Business|High|Public|Private|Elementary|Middle|Primary|Secondary|"
    r"Summer|"
    r"Graduate|Local|Other)\b)"
)
_HIGHER = (
    r"(?:University|Université|Universität|Universitaet|Universidad|Universidade|Università|Universitat|Universitet|"
    r"Universiteit|Uniwersytet|Univerzita|Univ\.|Institute of Technology|Institute of Science and Technology|"
    r"Technical University|Polytechnic|Politecnico|Polytechnique|Hochschule|Fachhochschule)"
)
_LESSER = (
    r"(?:Institut(?:e|et|o|ion)?|Istituto|Instytut|Laborator(?:y|ies)|Lab|Hospital|Clinic|School|Faculty|Department|Dept\.|Division|"
    r"Cent(?:er|re)|Academy|Observatory|College|École|Ecole|Chair|Research Group|Foundation Trust)"
)
_PLACE = (
    rf"(?:,? (?:at|in|of|de|di|zu|für) (?:the )?{_WORD}(?: (?:and |& )?{_WORD}){{0,3}}|"
    rf" [A-Z][a-z]{{2,15}}(?= ?[,.;)\n]))"
)
_UNIVERSITY = (
    rf"(?:\b{_HIGHER} (?:of|de|di|der|zu|für|do|da|del|degli) (?:the |la |las |los )?{_WORD}"
    rf"(?:(?: (?:and |of |at |in )?|[-–,/] ?(?=[{UPPER}])(?!(?:We|The|Our|I|This|It|They|and)\b)){_WORD}){{0,4}}"
    rf"|\b{_NOT_FIRST}{_WORD}(?: (?:of |and |& )?{_WORD}){{0,4}} {_HIGHER}\b(?: {_PLACE})?(?:{_PLACE})?"
    rf"|\b(?:Universität|Universitaet|Université|Universitat|Universiteit|Universitet|Uniwersytet|Hochschule|"
    rf"Politecnico|TU) {_WORD}(?:[ -]{_WORD}){{0,2}}"
    rf"|\b{_NOT_FIRST}[{UPPER}]\w{{2,20}}(?:universität|universitet|hochschule)\b(?: {_WORD})?)"
)
_UNIT = (
    rf"(?:\b{_LESSER} (?:of|for|für|de|d['’]|on) (?:the )?{_WORD}(?:(?: (?:and |of |& |for )?|"
    rf", (?=[{UPPER}]\w+ and )){_WORD}){{0,6}}"
    rf"|\b{_NOT_FIRST}{_WORD}(?: (?:of |and |& )?{_WORD}){{0,4}} {_LESSER}\b(?:{_PLACE})?)"
)
INSTITUTION = re.compile(rf"{_UNIVERSITY}|{_UNIT}")
_ELSEWHERE = re.compile(
    r"大学|大學|学院|學院|研究所|研究院|科学院|实验室|研究室|研究科|医院|病院|高専|대학|연구소|연구원\b|과학원|병원|جامعة|الجامعة|كلية|معهد|دانشگاه|"
    r"دانشکده|אוניברסיט|מכללת|המכון|הטכניון|\b(?:[Уу]ниверситет|[Ии]нститут|[Аа]кадеми|[Фф]акультет|[Кк]афедр|[Уу]ніверситет|"
    r"[Іі]нститут|[Аа]кадемі)|Üniversitesi|Fakültesi|yliopisto|egyetem|Egyetem|Universitas\b|Universitatea|Sveučilište|"
    r"Univerza\b|Univerzitet|[Uu]niversitetas|Universitāte|Ülikool|ülikool|Πανεπιστήμιο|Ινστιτούτο|Đại học|Trường|"
    r"Háskóli|"
    r"Ollscoil|Prifysgol|Unibertsitatea|Universidá"
)
"""Pattern for words of institutions in languages in which `INSTITUTION` finds none. Used only for lines of front
matter."""
_STRONG = re.compile(rf"(?:the |The )?(?:(?:{_UNIT}|{_UNIVERSITY}),? (?:at |of |and )?(?:the )?){{0,2}}{_UNIVERSITY}")
_UNITS = re.compile(_UNIT)

_INSTRUMENT = re.compile(
    r"(?:['’]s?)?[ -](?:(?!(?:have|has|had|will|is|are|was|were|can|could|may|to|we|that|which|who|for|in|on|with|"
    r"the|a|an|provid\w+|collect\w+|hosts?|runs?|shares?)\b)[\w-]{1,25}[ -]){0,4}"
    r"(?:data ?sets?|data|corpus|corpora|database|repositor(?:y|ies)|stud(?:y|ies)|survey|cohort|treebank|"
    r"benchmark|scores?|scale|test|inventory|questionnaire|licen[cs]e|press|biobank|index|"
    r"archive|collection|dictionary|parser|catalog(?:ue)?|ranking|students?' t)\b",
    re.I,
)
"""Pattern for words after an institution's name which show that it is the name of a data set or tool."""
_NUMBERED = re.compile(r"[ -]?(?:\d|[A-Z]{2}|[\w-]{0,20}(?:CoreNLP|Net|Bench|GPT|BERT))")

_RAISED = re.compile(r"[¹²³⁴⁵⁶⁷⁸⁹⁰ᵃᵇᶜᵈ]")
"""Pattern for footnote marks, which regular expressions treat as letters in the adjacent word."""

_THERE = (
    r"(?:groups?|labs?|laborator(?:y|ies)|teams?|students?|candidates?|professors?|post-?docs?|researchers?|"
    r"colleagues?|"
    r"collaborators?|faculty|staff|based|hosted|conducted|performed|out|located|employed|enrolled|affiliated|"
    r"clusters?|"
    r"facilit(?:y|ies)|work(?:s|ed|ing)?|project|position|fellow|scientist|lecturer|department|partners?|we|am|"
    r"are|is|PhD|"
    r"degree|visit(?:s|ing)?|stay|train(?:ed|ing)|graduated?|moved|join(?:s|ed|ing)?|institute|cent(?:er|re)|"
    r"hardware|compute|campus|years?|recruited|lead|led|author|applicant|investigator|experience|appointment|"
    r"here|one of us)"
)
_SELF = re.compile(
    rf"\b(?:{_THERE}(?:,? [\w-]{{1,20}}){{0,3}},? (?:at|from|of|in|with|to|by)|our (?:group|lab|team) at|"
    rf"here at|we at|us at|"
    rf"{ROLE},? (?:at|in|of|from)|(?:at|in|from) our|(?:I|we) (?:have |had |recently |first )?(?:joined|left|visited|"
    r"attended)) (?:the |our )?$",
    re.I,
)
_HEADED = re.compile(r"\n#{1,6} [^\n.!?]{1,60} at (?:the )?$")
_OPENING = re.compile(r"[^\n.!?]{1,60} at (?:the )?$")
"""Pattern for the start of a title up to the word `at`. `_HEADED` matches the same in a heading."""
_AFTER_NAME = re.compile(r"(?:,|\)|['’]s (?:lab|group|team))? ?(?:\(|of |at |from )?(?:the )?")
_OUR = re.compile(r"\b(?:[Oo]ur|[Mm]y) $")
_OURS_THERE = re.compile(
    r"(?:['’]s)? (?:labs?|laborator(?:y|ies)|group|team|department|cluster|campus|colleagues?|site|hospital)\b"
)
_NAMED_BEFORE = re.compile(r"(?:[(,] ?(?:both |all |now )?| )(?:(?:at|of|from) )?(?:the )?$")
_LOOK_BACK = 70


@cache
def _institution_pattern() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in institutions())
    return re.compile(rf"(?<![\w-])(?:{names})(?:(?:'s|’s))?(?![\w&-]| ?\d| [{UPPER}])")


@cache
def _compile_loose_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(re.escape(name) for name in institutions())})(?![\w-])")


def names_institution(line: str) -> bool:
    """Return whether a line in an author block names an institution."""
    line = _RAISED.sub(" ", line)
    return any(pattern.search(line) for pattern in (INSTITUTION, _compile_loose_pattern(), _ELSEWHERE))


def institution_places(text: str) -> Iterator[int]:
    """Yield the offsets at which a possible institution begins."""
    for pattern in (INSTITUTION, _institution_pattern()):
        yield from (match.start() for match in pattern.finditer(text))


def affiliations(text: str, names: list[MaskSpan]) -> Iterator[MaskSpan]:
    """Yield mentions of affiliations. A university counts anywhere, unless the name is that of a data set or tool.
    Other institutions count only if the text places a person there."""
    taken: list[tuple[int, int]] = []
    people = sorted(span.end for span in names)
    ends = set(people)
    for match in _STRONG.finditer(text):
        if not _INSTRUMENT.match(text, match.end()):
            taken.append(match.span())
            ends.add(match.end())
            yield MaskSpan(*match.span(), "affiliation")
    for pattern in (_UNITS, _institution_pattern()):
        for match in pattern.finditer(text):
            start, end = _find_institution_start(text, people, *match.span()), match.end()
            if _is_covered(taken, start) or not _places_person_at(text, start, end, ends, pattern is _UNITS):
                continue
            ends.add(end)
            yield MaskSpan(_article_start(text, start), end, "affiliation")


def _find_institution_start(text: str, people: Sequence[int], start: int, end: int) -> int:
    """Return where an institution begins. It was matched together with a person's name in text such as `Roe of National
    Institute of X`."""
    place = bisect_right(people, end - 1) - 1
    if place < 0 or people[place] <= start:
        return start
    between = _AFTER_NAME.match(text, people[place])
    return between.end() if between is not None and between.end() < end else start


def _places_person_at(text: str, start: int, end: int, ends: Container[int], unit: bool) -> bool:
    """Return whether the text places a person at the institution, and the name is not that of a data set or tool."""
    before = text[max(0, start - _LOOK_BACK) : start]
    if _OUR.search(before) and (unit or _OURS_THERE.match(text, end)):
        return True
    beside_name = bool(_NAMED_BEFORE.search(before)) and any(start - gap in ends for gap in range(1, 10))
    person_before = _SELF.search(before) or _HEADED.search(before) or (start < _LOOK_BACK and _OPENING.match(before))
    return bool(person_before or beside_name) and not (_INSTRUMENT.match(text, end) or _NUMBERED.match(text, end))


def _article_start(text: str, start: int) -> int:
    """Return where to start masking, so that a preceding article is masked too. An article left in the text would
    reveal something about the name, because only some institutions have one."""
    return start - 4 if text[max(0, start - 4) : start].lower() == "the " else start


def _is_covered(stretches: Sequence[tuple[int, int]], place: int) -> bool:
    """Return whether an offset lies in any of the spans, which must be in order."""
    before = bisect_right(stretches, (place, len(stretches) and stretches[-1][1])) - 1
    return before >= 0 and place < stretches[before][1]
