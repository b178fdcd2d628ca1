"""Inspect AI runs the solver, the scorer and the task of `assayer.inspect_tasks`, with its mock model."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import IDEAS, Homes, run_simulator

inspect_ai = pytest.importorskip(
    "inspect_ai", reason="needs inspect-ai: 20 more packages, 98 MB, in every clone; run before changes in its area"
)
pytestmark = pytest.mark.filterwarnings("default")  # Inspect AI uses what its libraries deprecate
PLANS = [(IDEAS / "quote-then-abstain.md").read_text("utf-8"), (IDEAS / "coral-acoustics.txt").read_text("utf-8")]


@pytest.fixture(scope="module")
def home(homes: Homes) -> Iterator[Path]:
    """Working directory with a corpus and an endpoint."""
    program = homes.create_home("inspect")
    with run_simulator(latency_mean=0) as simulated, pytest.MonkeyPatch.context() as patch:
        patch.chdir(program.home)
        for name, value in {**program.with_simulator(simulated).settings, "ASSAYER_HOME": str(program.home)}.items():
            patch.setenv(name, value)
        yield program.home


def _run(task: object, home: Path) -> object:
    (log,) = inspect_ai.eval(task, model="mockllm/model", log_dir=str(home / "logs"), display="none")
    assert log.status == "success", log.error
    return log


def test_task_reviews_the_plans_of_a_data_set_and_compares_totals_with_targets(home: Path) -> None:
    from assayer.inspect_tasks import plan_reviews

    plans = home / "plans.jsonl"
    plans.write_text("".join(json.dumps({"input": plan, "target": n}) + "\n" for n, plan in enumerate(PLANS)), "utf-8")
    log = _run(plan_reviews(str(plans)), home)
    (scored,) = log.results.scores  # type: ignore[attr-defined]
    assert set(scored.metrics) == {"mean", "stderr", "rank_agreement"}
    for sample, plan in zip(log.samples, PLANS, strict=True):  # type: ignore[attr-defined]
        assert sample.input == plan
        assert sample.output.completion.startswith("# ")
        assert sample.metadata["assayer total"]["high"] == 100
    totals = [sample.scores["report_total"].value for sample in log.samples]  # type: ignore[attr-defined]
    assert all(0 < total <= 100 for total in totals)
    assert scored.metrics["mean"].value == pytest.approx(sum(totals) / len(totals))


def test_scorer_reviews_a_plan_written_in_the_task_and_leaves_it_unscored_without_a_total(home: Path) -> None:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    from assayer.inspect_tasks import report_total

    @solver  # type: ignore[untyped-decorator]
    def write_plan() -> object:  # instead of the mock model's answer, whose tokens Inspect counts with downloaded files
        async def solve(state: object, generate: object) -> object:
            state.output = ModelOutput.from_content("mockllm/model", PLANS[0])  # type: ignore[attr-defined]
            return state

        return solve

    samples = [Sample("Write a plan.", target="accept")]
    log = _run(inspect_ai.Task(dataset=samples, solver=write_plan(), scorer=report_total(method="check")), home)
    (score,) = log.samples[0].scores.values()  # type: ignore[attr-defined]
    assert score.reason == "no_total"
    assert "no language model judged the idea" in score.explanation
