"""Evaluations by ScholarEval in memory."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assayer.backends import Backends
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.methods.scholareval import ScholarEvalOptions
from assayer.methods.scholareval.pipeline import evaluate
from assayer.models import CorpusFit, Hit, Paper, PaperId, Report, Window
from assayer.ports import Embedder
from assayer.run.run import Run
from tests.memory_corpus import MemoryCorpus
from tests.unit.scholareval_questions import IDEA
from tests.unit.twins import Answerer, NoFullTexts, TwinLlm, make_run
from workers.embedding.hashing_embedder import HashingEmbedder

OPTIONS = ScholarEvalOptions()


POOR_FIT = CorpusFit(level="poor", value=0.01, criterion="given by the test")


TOPICS = (
    "a small reader",
    "abstract checking",
    "quoted sentences",
    "annotated claims",
    "citation accuracy",
    "baselines",
)


def make_corpus_papers() -> list[Paper]:
    return [
        Paper(
            id=PaperId(f"paper {number}"),
            title=f"Reading claims, study {number}: {topic}",
            abstract=f"We train a small reader for {topic} that checks every quoted sentence against the abstract. "
            f"We compare it with three baselines on 2,000 annotated claims. Accuracy reaches {60 + number}% but fails "
            "out of domain.",
            publication_date=dt.date(2020, 1, 1) + dt.timedelta(days=number),
            url=f"https://example.org/{number}",
            source="corpus",
        )
        for number, topic in enumerate(TOPICS * 4)
    ]


def make_twin_backends(
    fit: CorpusFit | None = None,
    scripted: Mapping[str, Answerer] | None = None,
    failing: Mapping[str, AssayerError] | None = None,
) -> tuple[Backends, TwinLlm]:
    embedder: Embedder = HashingEmbedder()
    llm = TwinLlm(scripted, failing)
    corpus = MemoryCorpus(make_corpus_papers(), embedder, fit=fit)
    return Backends(llm=llm, literature=corpus, full_texts=NoFullTexts(), embedder=embedder), llm


def open_context(
    backends: Backends, run: Run | None = None, options: ScholarEvalOptions = OPTIONS
) -> EvaluationContext[ScholarEvalOptions]:
    return EvaluationContext.open(parse_idea(IDEA, source="idea.md"), backends, run or make_run(), options)


async def evaluate_idea(backends: Backends, run: Run | None = None) -> Report:
    idea = parse_idea(IDEA, source="idea.md")
    return (await evaluate(EvaluationContext.open(idea, backends, run or make_run(), OPTIONS))).report


class CorpusWithRemoteHits(MemoryCorpus):
    """Poor corpus whose search hits, but not snippets, count as found beyond it."""

    def __init__(self, run: Run, embedder: Embedder) -> None:
        super().__init__(make_corpus_papers(), embedder, fit=POOR_FIT)
        self._run = run

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        hits_by_query = await super().search(queries, limit, window)
        self._run.journal.near_remote_papers |= {hit.paper.id: "arxiv" for hits in hits_by_query for hit in hits}
        return [[hit.model_copy(update={"near_beyond_corpus": True}) for hit in hits] for hits in hits_by_query]


def make_backends_beyond_corpus(run: Run, scripted: Mapping[str, Answerer] | None = None) -> Backends:
    backends, _ = make_twin_backends(scripted=scripted)
    return replace(backends, literature=CorpusWithRemoteHits(run, backends.embedder))
