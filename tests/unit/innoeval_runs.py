"""Evaluations by InnoEval in memory."""

import datetime as dt
from collections.abc import Mapping, Sequence

from assayer.backends import Backends
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.evidence_pack import EvidencePack
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.pipeline import evaluate
from assayer.models import Absent, Dropped, FullText, Paper, PaperId, Section, Window
from assayer.reports.assembly import EvaluationResult
from assayer.run.run import Run
from tests.memory_corpus import MemoryCorpus
from tests.unit.innoeval_world import ANSWERS, IDEA, TwinBoard, TwinCode, TwinWeb, make_papers
from tests.unit.twins import Answerer, NoFullTexts, TwinLlm, make_run
from workers.embedding.hashing_embedder import HashingEmbedder

OPTIONS = InnoEvalOptions(top=3, later=2)


def make_twin_backends(
    scripted: Mapping[str, Answerer] | None = None, failing: Mapping[str, AssayerError] | None = None
) -> tuple[Backends, TwinLlm]:
    embedder = HashingEmbedder()
    llm = TwinLlm({**ANSWERS, **(scripted or {})}, failing)
    backends = Backends(
        llm=llm,
        literature=MemoryCorpus(make_papers(), embedder),
        full_texts=NoFullTexts(),
        embedder=embedder,
        web=TwinWeb(),
        code=TwinCode(),
    )
    return backends, llm


async def evaluate_idea(
    backends: Backends, options: InnoEvalOptions = OPTIONS, cutoff: dt.date | None = None, run: Run | None = None
) -> tuple[EvaluationResult, EvidencePack]:
    board = TwinBoard()
    evaluation = await evaluate(EvaluationContext.open(IDEA, backends, run or make_run(cutoff), options), board)
    return evaluation, board.packs[0]


def count_dropped(evaluation: EvaluationResult) -> dict[tuple[str, str], int]:
    dropped: Sequence[Dropped] = evaluation.report.coverage.dropped
    return {(item.item_kind, item.reason): item.count for item in dropped}


class LongTexts(NoFullTexts):
    """Full texts of all papers; `windows` records the requested periods."""

    def __init__(self) -> None:
        self.windows: set[Window] = set()

    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        self.windows.add(window)
        section = Section(title="Methods", text="Quoted sentences are compared with their sources, one by one. " * 9)
        return {paper.id: FullText(paper_id=paper.id, sections=(section,), parser="corpus") for paper in papers}
