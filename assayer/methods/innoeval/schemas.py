"""Questions and answers of the search and of the grounding.

Questions are what the prompt files render; answers are closed schemas, evidence before verdict. Labels are local to
one prompt: `P3` a find, `S2` a part of the idea, `Q5` a query that was tried.
"""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from assayer.evidence import Evidence
from assayer.methods.innoeval.dossier import Kind
from assayer.models import Frozen

FindLabel = Annotated[str, Field(pattern=r"^P\d+$", description="Label of one of the finds given, e.g. P3.")]
PartLabel = Annotated[str, Field(pattern=r"^S\d+$", description="Label of one of the parts given, e.g. S1.")]
PartText = Annotated[str, Field(max_length=1_500, description="15 to 80 words, readable without the idea.")]
SearchQuery = Annotated[str, Field(description="3 to 10 words. No operators, no quotation marks, no years.")]
CodeQuery = Annotated[str, Field(description="2 to 5 words. No operators, no quotation marks, no years.")]
RefinedText = Annotated[
    str, Field(description="2 to 5 words for code, 3 to 10 otherwise. No operators, no quotation marks, no years.")
]
Ten = Annotated[int, Field(ge=0, le=10, description="0 to 10 by the rubric.")]


class Find(Evidence):
    """A paper, page or repository as a prompt shows it."""

    kind: Kind
    standing: str = ""
    """Venue, citations, site, stars: what its source says of how it is received."""


class AskedPart(Frozen):
    """A part of the idea under its label in one prompt."""

    label: str
    name: str
    text: str


class ExtractionQuestion(Frozen):
    idea: str


class Extraction(Frozen):
    tldr: str | None = Field(
        description="The idea in one or two sentences, 20 to 60 words; null only if the text proposes nothing."
    )
    motivations: list[PartText] = Field(max_length=3, description="The strongest first; none that repeats the tldr.")
    research_questions: list[PartText] = Field(max_length=3, description="The most central first.")
    methods: list[PartText] = Field(max_length=5, description="The most important first.")
    settings: str | None = Field(
        description="What cuts across the methods: measures, baselines, data, resources; 20 to 120 words; "
        "null if the text is silent."
    )
    results: str | None = Field(
        description="What is expected, claimed or aimed at; 10 to 80 words; null if the text is silent."
    )


class QueriesQuestion(Frozen):
    digest: str
    parts: tuple[AskedPart, ...]
    kinds: tuple[Kind, ...]


class PartQueries(Frozen):
    part: PartLabel
    literature: list[SearchQuery] = Field(min_length=1, max_length=3, description="For a search of papers.")
    web: list[SearchQuery] = Field(max_length=2, description="For a web search.")
    code: list[CodeQuery] = Field(max_length=2, description="For a search of repositories of code.")


class Queries(Frozen):
    queries: list[PartQueries] = Field(description="One entry for each part given, in order.")


class RelevanceQuestion(Frozen):
    digest: str
    kind: Kind
    evidence: tuple[Find, ...]


class Relevance(Frozen):
    label: FindLabel
    reason: str = Field(description="At most 40 words: what ties it to the idea, and what it can be trusted for.")
    relevance: Ten
    quality: Ten | None = Field(description="0 to 10 by the rubric; null where relevance is below 3.")


class Relevances(Frozen):
    judgements: list[Relevance] = Field(description="One for each find given, in order.")


class TriedFind(Frozen):
    title: str
    worth_reading: bool


class Tried(Frozen):
    """A query and what became of it."""

    label: str
    kind: Kind
    part: str
    query: str
    found: int
    relevant: int
    finds: tuple[TriedFind, ...]
    """The most relevant of them."""


class RefinementQuestion(Frozen):
    digest: str
    tried: tuple[Tried, ...]
    limit: int


class RefinedQuery(Frozen):
    tried: str = Field(pattern=r"^Q\d+$", description="Label of the query that this one comes from, e.g. Q2.")
    problem: str = Field(description="At most 20 words: what its finds show to be wrong with it, or left open by it.")
    change: Literal["rewrite", "generalise", "narrow", "extend"]
    query: RefinedText


class Refinement(Frozen):
    queries: list[RefinedQuery]


@cache
def refinement_within(limit: int) -> type[Refinement]:
    """The same answer with at most so many queries."""
    described = Field(
        max_length=limit, description="The most promising first; an empty list if no query needs another try."
    )
    return create_model("Refinement", __base__=Refinement, queries=(list[RefinedQuery], described))


class GroundingQuestion(Frozen):
    digest: str
    parts: tuple[AskedPart, ...]
    evidence: tuple[Find, ...]


class GroundedPart(Frozen):
    part: PartLabel
    quote: str = Field(description="8 to 40 consecutive words copied exactly from this find's text.")
    analysis: str = Field(
        description="At most 50 words: what the quote shows, and why it makes this part more or less convincing. "
        "No labels."
    )
    stance: Literal["supports", "contradicts"]


class GroundedFind(Frozen):
    label: FindLabel
    groundings: list[GroundedPart] = Field(
        max_length=3, description="The most telling first; an empty list if the find speaks to no part."
    )


class Groundings(Frozen):
    finds: list[GroundedFind] = Field(description="One entry for each find given, in order.")
