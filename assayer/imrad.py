"""What part of a paper a section is, told by its title: introduction, methods, results, discussion, by many names."""

import re
from typing import Literal

__all__ = ["Part", "number_of", "opens_part", "part_of", "without_number"]

Part = Literal["abstract", "introduction", "methods", "results", "discussion", "references", "back"]
"""`introduction` includes background and related work, `discussion` conclusions and limitations; `back` is what
follows the work itself: acknowledgements, funding, statements, appendices."""

_NUMBER = re.compile(
    r"""^\s*(?:(?:section|chapter|part)\s+)?
    (?P<number>
        (?:\d{1,2}(?:\.\d{1,2}){0,4}
        |[IVX]{1,5}(?:-[A-Z\d]{1,2})?(?=[.):])
        |[IVX]{1,4}-[A-Z]
        |[A-Z](?=[.)])
        )(?:\.\d{1,2}){0,3}
    )
    [.):]*\s+(?=[^\W\d_]|["“'‘(])""",
    re.IGNORECASE | re.VERBOSE,
)
"""`3`, `3.1.`, `IV.`, `IV-A`, `B.2`, before a title."""


def _names(text: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in text.split(";"))


_WHOLE: tuple[tuple[Part, frozenset[str]], ...] = (
    ("abstract", _names("abstract; summary; executive summary; synopsis; significance statement")),
    (
        "introduction",
        _names(
            """introduction; intro; background; motivation; overview; objective; objectives; aim; aims; purpose;
            preliminaries; prior work; previous work; rationale; significance; context; notation; state of the art;
            scope; related work; related works; main; hypothesis; hypotheses; theory; literature review"""
        ),
    ),
    (
        "methods",
        _names(
            """methods; method; methodology; methodologies; approach; approaches; material; materials; procedure;
            materials and methods; methods and materials; patients and methods; subjects and methods; procedures;
            participants; subjects; patients; model; models; algorithm; algorithms; framework; architecture; data;
            implementation; datasets; dataset; design; training; setup; experimental section; experimental;
            statistics; measures; measurements; apparatus; stimuli; sample; samples; cohort; protocol; system;
            formulation; the model; our approach; our method; solution; theory and methods; data and methods"""
        ),
    ),
    (
        "results",
        _names(
            """results; result; findings; finding; experiments; experiment; evaluation; evaluations; performance;
            observations; outcomes; outcome; analysis; analyses; ablation; ablations; benchmarks; case study;
            case studies; validation; comparison; comparisons; results and discussion; experimental results"""
        ),
    ),
    (
        "discussion",
        _names(
            """discussion; discussions; conclusion; conclusions; concluding remarks; limitations; limitation;
            future work; outlook; implications; perspectives; final remarks; closing remarks; lessons learned;
            summary and outlook; interpretation; broader impact; broader impacts; impact statement;
            discussion and conclusion; discussion and conclusions; conclusion and future work"""
        ),
    ),
    (
        "references",
        _names("references; reference; bibliography; literature cited; works cited; references cited; citations"),
    ),
    (
        "back",
        _names(
            """acknowledgements; acknowledgments; acknowledgement; acknowledgment; funding; abbreviations; appendix;
            appendices; declarations; disclosure; disclosures; notes; footnotes; competing interests; ethics;
            supplement; supplementary; consent; author information; reproducibility; reproducibility statement;
            ethics statement; data availability; code availability; glossary"""
        ),
    ),
)
"""Titles that tell the part by themselves."""


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.VERBOSE)


_WITHIN: tuple[tuple[Part, re.Pattern[str]], ...] = (
    ("results", _words(r"results?,?\ and\ discussions? | experiments?\ and\ results? | results\ and\ \w+")),
    (
        "back",
        _words(
            r"""acknowledge?ments? | fund(?:ing|ers?) | contributions?\ of\ authors?
            | author(?:s['’]?)?(?:ship)?\ (?:contributions?|details|information|statement)
            | (?:competing|conflicts?|declarations?)\ (?:of\ )?(?:financial\ )?interests? | availability\ of
            | (?:data|code|materials?|software)\ (?:availability|accessibility|sharing)
            | supplement(?:ary|al) | supporting\ information | append(?:ix|ices) | list\ of\ abbreviations
            | ethic(?:s|al) | consent\ (?:for|to) | publisher['’]?s\ note | checklist | disclosure | copyright"""
        ),
    ),
    ("references", _words(r"references\ and\ notes | cited\ references | bibliographical?\ references")),
    (
        "discussion",
        _words(
            r"""discussions? | conclusions? | concluding | limitations? | future\ (?:work|directions?|research)
            | implications | outlook | broader\ impacts? | threats\ to\ validity"""
        ),
    ),
    (
        "methods",
        _words(
            r"""methods? | methodolog(?:y|ical) | materials? | procedures? | participants | recruitment | set-?up
            | (?:study|experiment(?:al)?|research|trial|sampling|stimulation)
              \ (?:design|area|sites?|population|protocol|settings?|details?)
            | (?:data|sample|image|signal)
              \ (?:collection|acquisition|sources?|sets?|preparation|(?:pre-?)?processing|analys[ei]s)
            | datasets? | statistical\ analys[ei]s | implementation\ details? | training\ (?:details?|procedure)
            | proposed\ (?:method|approach|model|framework|system|algorithm|architecture) | search\ strategy
            | problem\ (?:formulation|definition|statement) | model\ (?:architecture|description)
            | outcome\ measures | inclusion\ criteria | evaluation\ metrics?"""
        ),
    ),
    (
        "results",
        _words(
            r"""results? | findings | outcomes? | ablations? | experiments? | evaluations? | evaluating | performance
            | case\ stud(?:y|ies) | comparisons?\ (?:with|to|of|against) | error\ analysis | benchmark(?:s|ing)?"""
        ),
    ),
    (
        "introduction",
        _words(
            r"""introduction | background | related\ (?:research|literature|studies|work) | prior\ (?:work|art|research)
            | literature\ (?:review|survey) | state\ of\ the\ art | motivations? | preliminar(?:y|ies)
            | research\ (?:questions?|gaps?)"""
        ),
    ),
    ("abstract", _words("abstract")),
)
"""Words within a title, in the order in which they decide."""
_LONGEST = 9
"""Words of a title that may be told by one of them; a longer title says what was found."""


def number_of(title: str) -> str:
    """The number before a title, without closing punctuation: `3.1`, `IV`, `B.2`; empty when there is none."""
    match = _NUMBER.match(title)
    return match["number"] if match else ""


def without_number(title: str) -> str:
    match = _NUMBER.match(title)
    return title[match.end() :].strip() if match else title.strip()


def _plain(title: str) -> str:
    return " ".join(without_number(title).casefold().replace("&", "and").split()).strip(" .:-–—")


def opens_part(title: str) -> Part | None:
    """The part, when the title is nothing but one of its names."""
    plain = _plain(title)
    return next((part for part, names in _WHOLE if plain in names), None)


def part_of(title: str) -> Part | None:
    """None for a title that names its subject and not its part."""
    whole = opens_part(title)
    plain = _plain(title)
    if whole or len(plain.split()) > _LONGEST:
        return whole
    return next((part for part, words in _WITHIN if words.search(plain)), None)
