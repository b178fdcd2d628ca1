"""A small world for SciCompanion: papers that cite each other, and simple answers."""

import datetime as dt
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.llm import NoLlm
from assayer.methods.innoeval.schemas import Judgement, ReviewClaim, build_judgement_schema
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.pipeline import evaluate
from assayer.methods.scicompanion.schemas import (
    AddedEdge,
    AddedNode,
    DimensionQuestion,
    Removal,
    Revision,
    StateQuestion,
    StepAnswer,
)
from assayer.models import GraphRecord, Idea, Paper, PaperId
from assayer.ports import Literature
from assayer.reports.assembly import EvaluationResult
from assayer.run.run import Run
from tests.memory_corpus import MemoryCorpus
from tests.unit.twins import Answerer, NoFullTexts, TwinLlm, make_run
from workers.embedding.hashing_embedder import HashingEmbedder

IDEA = parse_idea(
    "# Checking quotes before reviews are read\n\nReviews quote papers wrongly. We build a checker that compares every "
    "quoted sentence with its source, and test it on 500 reviews against two baselines.",
    source="idea.md",
)
OPTIONS = SciCompanionOptions(papers_a_step=4, seeds=14, found=20)


def make_paper(number: int) -> Paper:
    return Paper(
        id=PaperId(f"paper {number}"),
        title=f"Quoted sentences and their sources, study {number}",
        abstract=f"Study {number} compares quoted sentences with their sources. In {40 + number} of 100 reviews a "
        "quote was not found in the paper that it was said to come from.",
        publication_date=dt.date(2020, 1, 1) + dt.timedelta(days=30 * number),
        source="corpus",
    )


PAPERS = [make_paper(number) for number in range(20)]
CITATIONS: Mapping[PaperId, Sequence[PaperId]] = {
    PAPERS[number].id: [PAPERS[number - 1].id, PAPERS[number // 2].id] for number in range(2, 20)
}


def make_corpus(
    papers: Sequence[Paper] = PAPERS, citations: Mapping[PaperId, Sequence[PaperId]] = CITATIONS
) -> MemoryCorpus:
    return MemoryCorpus(papers, HashingEmbedder(), citations)


def answer_step(question: BaseModel) -> StepAnswer:
    """Add a claim in the first step; in every step add an edge with a quote and an invalid edge, and delete one."""
    assert isinstance(question, StateQuestion)
    paper = question.papers[-1]
    claims = [node.label for node in question.nodes if node.kind == "claim"]
    quote = " ".join(paper.text.split()[:8])
    return StepAnswer(
        nodes=[AddedNode(key="A1", kind="claim", name="Quotes in reviews are often wrong", note="")],
        edges=[
            AddedEdge(source="N0", kind="states", target="A1", label=None, quote="", statement="Its first sentence."),
            AddedEdge(
                source=f"N{paper.label[1:]}",
                kind="supports",
                target=claims[0] if claims else "A1",
                label=paper.label,
                quote=quote,
                statement="Quotes were compared with their sources, and often not found.",
            ),
            AddedEdge(source="N0", kind="uses", target="N900", label=None, quote="", statement="It is not there."),
        ],
        revise=[Revision(label="N901", reason="To see what happens.", name="A name", text=None, kind=None)],
        delete=[Removal(label=f"N{question.papers[0].label[1:]}", reason="It is about something else.")],
        trace=f"Step {question.step}: quotes are often wrong [{paper.label}].",
        queries=[f"quoted sentences round {question.step}", "sources of quotes in reviews"],
    )


def answer_judgement(question: BaseModel) -> Judgement:
    assert isinstance(question, DimensionQuestion)
    citation = f" [{question.papers[0].label}]" if question.papers else ""
    return build_judgement_schema(question.dimension.scores)(
        strengths=[ReviewClaim(text=f"Quotes of reviews were compared with their sources before{citation}.")],
        weaknesses=[],
        suggestions=[ReviewClaim(text="Test it on reviews of two fields.")],
        rationale="It stands between two bands.",
        score=6,
    )


ANSWERS: Mapping[str, Answerer] = {
    "scicompanion.step": answer_step,
    "scicompanion.judging": answer_judgement,
}


def make_twin_backends(
    literature: Literature | None = None,
    scripted: Mapping[str, Answerer] | None = None,
    failing: Mapping[str, AssayerError] | None = None,
) -> tuple[Backends, TwinLlm]:
    embedder = HashingEmbedder()
    llm = TwinLlm({**ANSWERS, **(scripted or {})}, failing)
    literature = make_corpus() if literature is None else literature
    return Backends(llm=llm, literature=literature, full_texts=NoFullTexts(), embedder=embedder), llm


def make_backends_without_llm(literature: Literature | None = None) -> Backends:
    embedder = HashingEmbedder()
    return Backends(
        llm=NoLlm(),
        literature=make_corpus() if literature is None else literature,
        full_texts=NoFullTexts(),
        embedder=embedder,
    )


async def evaluate_idea(
    backends: Backends, options: SciCompanionOptions = OPTIONS, idea: Idea = IDEA, run: Run | None = None
) -> tuple[EvaluationResult, GraphRecord]:
    evaluation = await evaluate(EvaluationContext.open(idea, backends, run or make_run(), options))
    graph = evaluation.report.graph
    assert graph is not None
    return evaluation, graph
