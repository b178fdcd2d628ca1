"""Evaluations by a model with a small context window: prompts are cut to fit, and the report says so."""

from collections import Counter

import pytest

from tests.e2e.evaluations import TWO_IDEAS
from tests.e2e.program import Homes, read_reports, run_simulator


@pytest.mark.parametrize(
    ("method", "context_tokens"), [("review", 8_192), pytest.param("scholareval", 7_168, marks=pytest.mark.slow)]
)
def test_model_with_a_small_context_completes_an_evaluation(homes: Homes, method: str, context_tokens: int) -> None:
    program = homes.create_home(f"small-context-{method}")
    with run_simulator(latency_mean=0, context_tokens=context_tokens) as simulated:
        result = program.with_simulator(simulated).run("evaluate", TWO_IDEAS[0], "--method", method)
        stats = simulated.read_stats()
    assert (result.code, result.err) == (0, "")
    (report,) = read_reports(program.out).values()
    coverage = report["coverage"]
    assert coverage["llm_requests_failed"] == 0
    assert stats.by_status.get("400", 0) == 0
    assert coverage["llm_requests"] > 0
    cut_counts = Counter(
        {
            drop["item_kind"]: drop["count"]
            for drop in coverage["dropped"]
            if f"{context_tokens:,} tokens" in drop["reason"]
        }
    )
    assert cut_counts.total() > 0
