"""A report of InnoEval with a board."""

import datetime as dt

from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.board.session import BoardSession
from assayer.methods.innoeval.options import BoardOptions
from assayer.methods.innoeval.pipeline import evaluate
from assayer.models import Decision, Report
from tests.unit.innoeval_evidence import BOARD_ANSWERS
from tests.unit.innoeval_runs import OPTIONS, make_twin_backends
from tests.unit.innoeval_world import CUTOFF, IDEA
from tests.unit.twins import make_run

DECISION = Decision(
    name="Poster",
    stability=0.87,
    calibration="spring",
    calibration_date=dt.date(2026, 3, 1),
    provenance="90 ideas of a <conference>.",
    outcomes=("Reject", "Poster", "Oral"),
    thresholds=(4.5, 7.25),
)


async def make_board_report(options: BoardOptions) -> Report:
    """Return the report of an evaluation with scripted answers."""
    run = make_run(CUTOFF)
    backends, llm = make_twin_backends(BOARD_ANSWERS)
    board = BoardSession(llm, run, options)
    return (await evaluate(EvaluationContext.open(IDEA, backends, run, OPTIONS), board)).report
