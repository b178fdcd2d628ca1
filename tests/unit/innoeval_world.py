"""A small world for InnoEval: papers, pages and repositories on both sides of a day, and simple answers."""

import datetime as dt
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from assayer.citing.labels import build_marker
from assayer.cutoff import keep_within_window
from assayer.errors import SourceUnavailable
from assayer.ideas.parsing import parse_idea
from assayer.methods.innoeval.evidence_pack import BoardResult, EvidencePack
from assayer.methods.innoeval.schemas import (
    Extraction,
    ExtractionQuestion,
    GroundedFind,
    GroundedPart,
    GroundingQuestion,
    Groundings,
    RefinedQuery,
    Refinement,
    RefinementQuestion,
    build_refinement_schema,
)
from assayer.models import (
    Absent,
    Codebase,
    Dataset,
    Definition,
    Paper,
    PaperId,
    Part,
    Point,
    Repository,
    Score,
    SourceFile,
    Summary,
    WebPage,
    WebResult,
    Window,
)
from tests.unit.twins import Answerer

CUTOFF = dt.date(2024, 6, 30)
DAY = dt.timedelta(days=1)
IDEA = parse_idea(
    "# Checking quotes before reviews are read\n\nReviews quote papers wrongly. We build a checker that compares every "
    "quoted sentence with its source, and test it on 500 reviews against two baselines.",
    source="idea.md",
)


def make_papers(number: int = 30) -> list[Paper]:
    return [
        Paper(
            id=PaperId(f"paper {n}"),
            title=f"Quoted sentences and their sources, study {n}",
            abstract=f"Study {n} compares quoted sentences with their sources. In {40 + n} of 100 reviews a quote was "
            "not found in the paper that it was said to come from.",
            publication_date=CUTOFF + dt.timedelta(days=40 * (n - number + 6)),
            url=f"https://papers.example.org/{n}",
            citation_count=n,
            source="corpus",
        )
        for n in range(number)
    ]


def make_page(number: int, published: dt.date | None) -> WebResult:
    return WebResult(
        title=f"How we check quotes, part {number}",
        url=f"https://pages.example.org/{number}",
        snippet=f"Notes on checking quotes in reviews, part {number}.",
        published=published,
    )


def make_repository(number: int, created: dt.date | None) -> Repository:
    return Repository(
        name=f"lab/quote-checker-{number}",
        url=f"https://code.example.org/lab/quote-checker-{number}",
        description=f"Checks quotes in reviews against papers, version {number}.",
        stars=10 * number,
        language="Python",
        created=created,
    )


PAGES = [make_page(n, CUTOFF + DAY * (n - 4)) for n in range(8)]
REPOSITORIES = [make_repository(n, CUTOFF + DAY * (n - 4)) for n in range(8)]


class TwinWeb:
    """Web that answers every query with all its pages in the window, including undated ones, as the port requires."""

    def __init__(self, pages: Sequence[WebResult] = PAGES, texts: Mapping[str, WebPage | Absent] | None = None) -> None:
        self._pages, self._texts = pages, texts or {}
        self.read_urls: list[str] = []

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[WebResult]]:
        pages = keep_within_window(self._pages, window, lambda item: item.published, undated=True)
        return [pages[:limit] for _ in queries]

    async def read(self, urls: Sequence[str]) -> Mapping[str, WebPage | Absent]:
        self.read_urls += urls
        return {url: self._texts.get(url, _fetch_page(url)) for url in urls}


class TwinCode:
    def __init__(self, repositories: Sequence[Repository] = REPOSITORIES) -> None:
        self._repositories = repositories
        self.states: dict[str, dt.date | None] = {}
        """Day as of which each repository was read, by repository."""

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Repository]]:
        repositories = keep_within_window(self._repositories, window, lambda item: item.created, undated=True)
        return [repositories[:limit] for _ in queries]

    async def read(self, repositories: Sequence[str], window: Window) -> Mapping[str, Codebase | Absent]:
        self.states |= dict.fromkeys(repositories, window.before)
        return {name: make_codebase(name) for name in repositories}


class TwinDatasets:
    def __init__(self, source: str) -> None:
        self.source = source

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Dataset]]:
        all_datasets = [
            Dataset(
                key=f"doi:10.5061/quotes.{n}",
                title=f"Quotes of reviews and their sources, part {n}",
                url=f"https://archive.example.org/{n}",
                description=f"{n}00 reviews with {n}000 quotes, each marked as found in its source or not.",
                publisher="Dryad",
                published=CUTOFF + DAY * (n - 4),
            )
            for n in range(8)
        ]
        datasets = keep_within_window(all_datasets, window, lambda item: item.published, undated=True)
        return [datasets[:limit] for _ in queries]


class DownDatasets(TwinDatasets):
    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Dataset]]:
        raise SourceUnavailable("The catalogue is down.")


def _fetch_page(url: str) -> WebPage:
    text = (
        "Quotes are checked by hand in every journal that we asked so far.\n\n"
        "We found that one quote in three was wrong, and nobody had noticed."
    )
    return WebPage(url=url, title="", site="pages.example.org", text=f"{text}\n\nThis is {url.rpartition('/')[2]}.")


def make_codebase(name: str) -> Codebase:
    return Codebase(
        name=name,
        commit="a" * 40,
        tree=("README.md", "checker/match.py", "checker/run.py"),
        files=3,
        readme="A checker of quotes that reads every source word by word, and reports slips.\n\n"
        "Every quoted sentence is compared with its source by edit distance.",
        sources=(
            SourceFile(path="checker/match.py", text="import difflib\n\ndef match_quote(quote, source):\n    pass\n"),
        ),
        definitions=(
            Definition(path="checker/match.py", line=3, kind="function", name="match_quote", doc="Find a quote."),
            Definition(
                path="checker/run.py", line=1, kind="function", name="main", doc="", calls=("match_quote", "print")
            ),
        ),
    )


def answer_extraction(question: BaseModel) -> Extraction:
    assert isinstance(question, ExtractionQuestion)
    return Extraction(
        tldr="A checker compares every quoted sentence of a review with its source.",
        motivations=["Reviews quote papers wrongly."],
        research_questions=["How many quotes of reviews stand in their sources?"],
        methods=["A checker compares quoted sentences with sources.", "A test on 500 reviews against two baselines."],
        settings=None,
        results=None,
    )


def answer_refinement(question: BaseModel) -> Refinement:
    assert isinstance(question, RefinementQuestion)
    return build_refinement_schema(question.limit)(
        queries=[
            RefinedQuery(tried=item.label, problem="Too narrow.", change="generalise", query=f"{item.query} again")
            for item in question.tried[: question.limit]
        ]
    )


def answer_grounding(question: BaseModel) -> Groundings:
    assert isinstance(question, GroundingQuestion)
    return Groundings(
        finds=[
            GroundedFind(
                label=find.label,
                groundings=[
                    GroundedPart(
                        part=question.parts[1].label,
                        quote=" ".join(find.text.split("\n\n")[0].split()[:12]),
                        analysis="It shows that quotes are often wrong.",
                        stance="supports",
                    )
                ],
            )
            for find in question.evidence
        ]
    )


ANSWERS: Mapping[str, Answerer] = {
    "innoeval.extraction": answer_extraction,
    "innoeval.refinement": answer_refinement,
    "innoeval.grounding": answer_grounding,
}


class TwinBoard:
    """Board of one reviewer, who cites the first source on each side; keeps the packs it was given."""

    def __init__(self) -> None:
        self.packs: list[EvidencePack] = []

    async def deliberate(self, pack: EvidencePack) -> BoardResult:
        self.packs.append(pack)
        citation = "".join(f"[{build_marker(item.paper.id)}]" for item in pack.before_cutoff[:1])
        point = Point(kind="strength", text=f"Quotes can be checked {citation}.")
        part = Part(
            name="novelty",
            title="Novelty",
            score=Score(value=5.0, basis="One reviewer."),
            summary=Summary(strengths=(point,), weaknesses=(), suggestions=()),
            assessments=(),
        )
        return BoardResult(summary=Summary(strengths=(point,), weaknesses=(), suggestions=()), parts=(part,))
