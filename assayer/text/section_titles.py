"""Interpretation of section titles in papers and proposals. This is the only module that knows the names of sections.

Four questions are asked about a title, each with its own vocabulary, because the cost of a wrong answer differs:

- its number, and the title without it: `number_of`, `strip_number`; `split_printed_number` for a line of a PDF;

- the part of a paper that it begins: `part_of` and `opens_part`; less strictly, whether methods or results follow:
`names_methods_or_results`;

- whether a bare line with these words is a heading at all: `is_known_title`, `is_main_title`, `is_back_title`;

- the part of a proposal: `proposal_part_of`.

`assayer.text.headings` uses these functions to find the headings of a text; `workers.documents` uses them, together
with the typography, to find those of a PDF."""

import re
from typing import Literal

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
"""Pattern for a number before a title: `3`, `3.1.`, `IV.`, `IV-A`, `B.2`."""
_PRINTED_NUMBER = re.compile(
    r"^(?:section\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-H]\.(?:\d{1,2}\.?)?)\s+(?P<title>[^\W\d_].*)$",
    re.IGNORECASE,
)


def number_of(title: str) -> str:
    """Return the number before a title, without trailing punctuation: `3.1`, `IV`, `B.2`; empty if there is none."""
    match = _NUMBER.match(title)
    return match["number"] if match else ""


def strip_number(title: str) -> str:
    match = _NUMBER.match(title)
    return title[match.end() :].strip() if match else title.strip()


def split_printed_number(line: str) -> tuple[str, str]:
    """Return the number and the title of a heading printed on a line of its own; the number can be empty."""
    match = _PRINTED_NUMBER.match(line)
    return (match["number"].rstrip("."), match["title"]) if match else ("", line)


_SMALL_CAPITALS = re.compile(r"\b([A-ZÀ-Þ]) ([A-ZÀ-Þ]{2,})\b")


def join_small_capitals(title: str) -> str:
    """Return a title with words in small capitals rejoined: a PDF contains `REFERENCES` as `R EFERENCES`."""
    return _SMALL_CAPITALS.sub(r"\1\2", title) if title.isupper() else title


PaperPart = Literal["abstract", "introduction", "methods", "results", "discussion", "references", "back"]
"""Part of a paper. `introduction` includes background and related work, `discussion` includes conclusions and
limitations; `back` is everything after the work itself: acknowledgements, funding, statements, appendices."""


def _split_names(text: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in text.split(";"))


_WHOLE: tuple[tuple[PaperPart, frozenset[str]], ...] = (
    ("abstract", _split_names("abstract; summary; executive summary; synopsis; significance statement")),
    (
        "introduction",
        _split_names(
            """introduction; intro; background; motivation; overview; objective; objectives; aim; aims; purpose;
            preliminaries; prior work; previous work; rationale; significance; context; notation; state of the art;
            scope; related work; related works; main; hypothesis; hypotheses; theory; literature review"""
        ),
    ),
    (
        "methods",
        _split_names(
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
        _split_names(
            """results; result; findings; finding; experiments; experiment; evaluation; evaluations; performance;
            observations; outcomes; outcome; analysis; analyses; ablation; ablations; benchmarks; case study;
            case studies; validation; comparison; comparisons; results and discussion; experimental results"""
        ),
    ),
    (
        "discussion",
        _split_names(
            """discussion; discussions; conclusion; conclusions; concluding remarks; limitations; limitation;
            future work; outlook; implications; perspectives; final remarks; closing remarks; lessons learned;
            summary and outlook; interpretation; broader impact; broader impacts; impact statement;
            discussion and conclusion; discussion and conclusions; conclusion and future work"""
        ),
    ),
    (
        "references",
        _split_names("references; reference; bibliography; literature cited; works cited; references cited; citations"),
    ),
    (
        "back",
        _split_names(
            """acknowledgements; acknowledgments; acknowledgement; acknowledgment; funding; abbreviations; appendix;
            appendices; declarations; disclosure; disclosures; notes; footnotes; competing interests; ethics;
            supplement; supplementary; consent; author information; reproducibility; reproducibility statement;
            ethics statement; data availability; code availability; glossary"""
        ),
    ),
)
"""Complete titles that identify their part."""


def _compile_words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.VERBOSE)


_WITHIN: tuple[tuple[PaperPart, re.Pattern[str]], ...] = (
    ("results", _compile_words(r"results?,?\ and\ discussions? | experiments?\ and\ results? | results\ and\ \w+")),
    (
        "back",
        _compile_words(
            r"""acknowledge?ments? | fund(?:ing|ers?) | contributions?\ of\ authors?
            | author(?:s['’]?)?(?:ship)?\ (?:contributions?|details|information|statement)
            | (?:competing|conflicts?|declarations?)\ (?:of\ )?(?:financial\ )?interests? | availability\ of
            | (?:data|code|materials?|software)\ (?:availability|accessibility|sharing)
            | supplement(?:ary|al) | supporting\ information | append(?:ix|ices) | list\ of\ abbreviations
            | ethic(?:s|al) | consent\ (?:for|to) | publisher['’]?s\ note | checklist | disclosure | copyright"""
        ),
    ),
    ("references", _compile_words(r"references\ and\ notes | cited\ references | bibliographical?\ references")),
    (
        "discussion",
        _compile_words(
            r"""discussions? | conclusions? | concluding | limitations? | future\ (?:work|directions?|research)
            | implications | outlook | broader\ impacts? | threats\ to\ validity"""
        ),
    ),
    (
        "methods",
        _compile_words(
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
        _compile_words(
            r"""results? | findings | outcomes? | ablations? | experiments? | evaluations? | evaluating | performance
            | case\ stud(?:y|ies) | comparisons?\ (?:with|to|of|against) | error\ analysis | benchmark(?:s|ing)?"""
        ),
    ),
    (
        "introduction",
        _compile_words(
            r"""introduction | background | related\ (?:research|literature|studies|work) | prior\ (?:work|art|research)
            | literature\ (?:review|survey) | state\ of\ the\ art | motivations? | preliminar(?:y|ies)
            | research\ (?:questions?|gaps?)"""
        ),
    ),
    ("abstract", _compile_words("abstract")),
)
"""Words within a title that identify its part, in order of precedence."""
_MAX_WORDS = 9
"""Maximum number of words in a title for a single word to decide its part; a longer title states a finding."""


def _normalise_title(title: str) -> str:
    return " ".join(strip_number(title).casefold().replace("&", "and").split()).strip(" .:-–—")


def opens_part(title: str) -> PaperPart | None:
    """Return the part if the title consists only of a name of that part; otherwise None."""
    plain = _normalise_title(title)
    return next((part for part, names in _WHOLE if plain in names), None)


def part_of(title: str) -> PaperPart | None:
    """Return the part that a title belongs to; None if the title names its subject rather than its part."""
    whole = opens_part(title)
    plain = _normalise_title(title)
    if whole or len(plain.split()) > _MAX_WORDS:
        return whole
    return next((part for part, words in _WITHIN if words.search(plain)), None)


_LOOSE_NUMBER = re.compile(
    r"^\s*(?:(?:section|appendix)\s+)?(?:[0-9]+|[A-Z]|[IVXL]+)(?:\.[0-9]+)*[.):\s]\s*", re.IGNORECASE
)
_METHODS = re.compile(
    r"\b(method(s|ology|ological)?|materials?|approach|procedures?|participants|subjects|design|model|architecture|"
    r"algorithm|implementation|framework|setup|set-up|settings?|protocol|data ?sets?|data collection|training|"
    r"preliminaries|formulation|study area|sampling|measures|measurements|stimuli|apparatus|preparation|synthesis|"
    r"assays?|cultures?|statistical analys[ie]s|experimental section)\b",
    re.IGNORECASE,
)
_RESULTS = re.compile(
    r"\b(results?|findings|evaluation|experiments?|performance|ablations?|analys[ie]s|comparisons?|outcomes?|"
    r"discussion|limitations?|benchmarks?|case stud(y|ies)|observations|error analysis)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(
    r"\b(related work|background|introduction|acknowledg\w*|references|funding|author contributions|"
    r"conflicts? of interest|availability|ethics)\b",
    re.IGNORECASE,
)


def names_methods_or_results(title: str) -> bool:
    """Return whether a word of the title refers to methods or results, and no word refers to another part."""
    heading = _LOOSE_NUMBER.sub("", title)
    return not _NEITHER.search(heading) and bool(_METHODS.search(heading) or _RESULTS.search(heading))


_KNOWN_TITLES = frozenset(
    """
    abstract; aim; aims; aims and objectives; analysis; analysis plan; approach; background; background and motivation;
    baselines; broader impact; budget; conclusion; conclusions; contribution; contributions; core idea; data;
    data analysis; data and methods; dataset; datasets; discussion; ethics; ethical considerations; evaluation;
    evaluation plan; expected contributions; expected impact; expected outcome; expected outcomes; expected results;
    experiment; experiment design; experiment plan; experimental design; experimental plan; experimental results;
    experimental setup; experiments; experiments and results; fallback plan; findings; future work; goal; goals;
    hypotheses; hypothesis; idea; impact; implementation; innovation; introduction; key idea; limitations;
    literature review; main idea; materials; materials and methods; measures; method; methodology; methods;
    methods and materials; milestones; motivation; novelty; objective; objectives; outcomes; outlook; participants;
    plan; preliminaries; preliminary results; prior work; problem; problem definition; problem formulation;
    problem statement; procedure; proposal; proposed approach; proposed method; proposed methodology; proposed solution;
    rationale; references; related work; relevance; research design; research gap; research goals; research objectives;
    research plan; research question; research questions; resources; results; results and discussion;
    risks; risks and mitigation; setup; significance; solution; state of the art; statistical analysis;
    step-by-step experiment plan; study design; summary; test case examples; timeline; validation; work plan
    """.replace("\n", " ").strip().replace("    ", "").split("; ")
)  # fmt: skip
"""Titles, in lower case, that are enough on their own to identify a line as a heading."""
_MAIN_TITLE = re.compile(
    r"^(?:abstract|summary|introduction|background|related work|(?:materials and )?methods?(?: and materials)?"
    r"|methodology|approach|experiments?|results(?: and discussion)?|evaluation|discussion|conclusions?|limitations"
    r")$",
    re.IGNORECASE,
)
_BACK_TITLE = re.compile(
    r"^(?:references|bibliography|acknowledge?ments?|appendi(?:x|ces)\b.*|supplementary material|funding"
    r"|author(?:s['’])? contributions|(?:competing|conflicts? of) interests?|ethics statement|data availability)$",
    re.IGNORECASE,
)
"""Titles of sections after the work itself, which are often set in smaller type than the text."""


def is_known_title(title: str) -> bool:
    """Return whether a title is a usual section title of papers and proposals."""
    return " ".join(title.casefold().replace("&", "and").split()).rstrip(":. ") in _KNOWN_TITLES


def is_main_title(title: str) -> bool:
    """Return whether a title exactly matches, word for word and without a number, a usual title of a main section of a
    paper."""
    return _MAIN_TITLE.match(title) is not None


def is_back_title(title: str) -> bool:
    """Return whether a title is a usual title of a section after the work itself."""
    return _BACK_TITLE.match(title) is not None


ProposalPart = Literal["problem", "method", "evaluation", "other"]

_PROPOSAL_PARTS: tuple[tuple[ProposalPart, re.Pattern[str]], ...] = (
    (
        "evaluation",
        re.compile(r"experiment|evaluat|validation|test|analys|metric|ablation|statistic|outcome", re.I),
    ),
    (
        "method",
        re.compile(r"method|approach|design|model|procedure|protocol|system|framework|algorithm|plan", re.I),
    ),
    (
        "problem",
        re.compile(r"problem|motivation|background|introduction|hypothes|question|aim|goal|gap", re.I),
    ),
)
"""Words within a proposal heading that identify its part, in order of precedence."""


def proposal_part_of(heading: str) -> ProposalPart | None:
    """Return the proposal part that a heading belongs to; None for a heading that names its subject rather than its
    part."""
    return next((part for part, words in _PROPOSAL_PARTS if words.search(heading)), None)
