"""Printed cost of a command of curation."""

from pathlib import Path

import pytest

from assayer.models import Dropped, EvaluationId
from assayer.run.accounting import Started, measure_usage, sum_costs
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from cluster.cli.curation_output import show_curation_summary
from cluster.clock import SystemClock
from cluster.curator import CurationWork


@pytest.mark.parametrize(
    ("charged", "words"),
    [
        (0.0104, "cost of these answers $0.0000; paid now $0.0104, unusable answers included."),
        (None, "cost unknown: No price is configured for a model whose answers could not be used."),
    ],
)
def test_cost_of_unusable_answers_is_shown(
    charged: float | None, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = Run(EvaluationId("sc_1"), None, SystemClock(), NoProgress())
    started = Started.now(run.clock)
    run.budget.charge(charged, 900)
    dropped = (Dropped(item_kind="scores of an idea", count=2, reason="the LLM gave no valid answer"),)
    usage = measure_usage(run, started)
    show_curation_summary(CurationWork([], dropped, usage, 0, 0, sum_costs(()), (), ()), tmp_path)
    assert words in " ".join(capsys.readouterr().out.split())
