"""Institutions as texts write them: `the University of X`, `Department of Y, Z University`, `at MIT`."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from assayer.blinding.names import ROLE, UPPER
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import institutions

__all__ = ["INSTITUTION", "affiliations", "names_institution"]

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
    r"(?:Institut(?:e|o|ion)?|Laborator(?:y|ies)|Lab|Hospital|Clinic|School|Faculty|Department|Dept\.|Division|"
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
_STRONG = re.compile(rf"(?:the |The )?(?:(?:{_UNIT}|{_UNIVERSITY}),? (?:at |of |and )?(?:the )?){{0,2}}{_UNIVERSITY}")
_UNITS = re.compile(_UNIT)

_INSTRUMENT = re.compile(
    r"(?:['’]s?)?[ -](?:[\w-]{1,25}[ -]){0,4}(?:data ?sets?|data|corpus|corpora|database|repositor(?:y|ies)|"
    r"stud(?:y|ies)|"
    r"survey|cohort|treebank|benchmark|scores?|scale|test|inventory|questionnaire|licen[cs]e|press|biobank|index|"
    r"archive|collection|dictionary|parser|catalog(?:ue)?|ranking|students?' t)\b",
    re.I,
)
"""What makes of an institution's name that of a data set or a tool."""
_NUMBERED = re.compile(r"[ -]?(?:\d|[A-Z]{2}|[\w-]{0,20}(?:CoreNLP|Net|Bench|GPT|BERT))")

_RAISED = re.compile(r"[¹²³⁴⁵⁶⁷⁸⁹⁰ᵃᵇᶜᵈ]")
"""Footnote marks, which count as letters of the word that they stand before."""

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
    rf"{ROLE},? (?:at|in|of|from)|(?:at|in|from) our) (?:the |our )?$",
    re.I,
)
_NAMED_BEFORE = re.compile(r"(?:[(,] ?(?:both |all |now )?| )(?:(?:at|of|from) )?(?:the )?$")
_LOOK_BACK = 70


@cache
def _bare() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in institutions())
    return re.compile(rf"(?<![\w-])(?:{names})(?:(?:'s|’s))?(?![\w&-]| ?\d| [{UPPER}])")


@cache
def _anywhere() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(re.escape(name) for name in institutions())})(?![\w-])")


def names_institution(line: str) -> bool:
    """Whether a line of an author block is one of an institution."""
    line = _RAISED.sub(" ", line)
    return INSTITUTION.search(line) is not None or _anywhere().search(line) is not None


def affiliations(text: str, names: list[MaskSpan]) -> Iterator[MaskSpan]:
    """Universities wherever they are named, unless a data set or a tool bears the name; other institutions where the
    text says that somebody is there."""
    taken: list[tuple[int, int]] = []
    ends = {span.end for span in names}
    for match in _STRONG.finditer(text):
        if not _INSTRUMENT.match(text, match.end()):
            taken.append(match.span())
            ends.add(match.end())
            yield MaskSpan(*match.span(), "affiliation")
    for pattern in (_UNITS, _bare()):
        for match in pattern.finditer(text):
            start, end = match.span()
            before = text[max(0, start - _LOOK_BACK) : start]
            beside_name = bool(_NAMED_BEFORE.search(before)) and any(start - gap in ends for gap in range(1, 10))
            if _covered(taken, start) or not (_SELF.search(before) or beside_name):
                continue
            if not (_INSTRUMENT.match(text, end) or _NUMBERED.match(text, end)):
                ends.add(end)
                yield MaskSpan(_with_article(text, start), end, "affiliation")


def _with_article(text: str, start: int) -> int:
    """An article is masked with its institution, as some have one and others none."""
    return start - 4 if text[max(0, start - 4) : start].lower() == "the " else start


def _covered(stretches: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether an offset lies in one of the stretches, which come in order."""
    before = bisect_right(stretches, (place, len(stretches) and stretches[-1][1])) - 1
    return before >= 0 and place < stretches[before][1]
