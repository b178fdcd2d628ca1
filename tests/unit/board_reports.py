"""A report of InnoEval with a board."""

import datetime as dt

from assayer.backends import Backends
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.board.session import BoardSession
from assayer.methods.innoeval.options import BoardOptions, InnoEvalOptions
from assayer.methods.innoeval.pipeline import evaluate
from assayer.models import Decision, Report
from index.memory_corpus import MemoryCorpus
from tests.unit.innoeval_evidence import BOARD_ANSWERS
from tests.unit.innoeval_world import ANSWERS, CUTOFF, IDEA, TwinCode, TwinWeb, papers
from tests.unit.twins import NoFullTexts, TwinLlm, a_run
from workers.embedding.hashing_embedder import HashingEmbedder

DECISION = Decision(
    name="Poster",
    stability=0.87,
    calibration="spring",
    made_on=dt.date(2026, 3, 1),
    provenance="90 ideas of a <conference>.",
    outcomes=("Reject", "Poster", "Oral"),
    thresholds=(4.5, 7.25),
)


async def board_report(options: BoardOptions) -> Report:
    """Return the report of an evaluation with scripted answers."""
    embedder, run = HashingEmbedder(), a_run(CUTOFF)
    llm = TwinLlm({**ANSWERS, **BOARD_ANSWERS})
    backends = Backends(
        llm=llm,
        literature=MemoryCorpus(papers(), embedder),
        full_texts=NoFullTexts(),
        embedder=embedder,
        web=TwinWeb(),
        code=TwinCode(),
    )
    board = BoardSession(llm, run, options)
    return (await evaluate(EvaluationContext.open(IDEA, backends, run, InnoEvalOptions(top=3, later=2)), board)).report
