"""Reviews of research plans in Inspect AI (extra `inspect`): a solver, a scorer, and a task over a data set of plans.

    inspect eval assayer/plan_reviews -T dataset=plans.jsonl --model none

Inspect finds them through the entry point in pyproject.toml. assayer uses the language model from its own settings."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import concurrency

from assayer import EvaluationReport, evaluate_async

_AT_ONCE = 1
"""Number of concurrent evaluations. Each loads its own copy of the corpus's models, about half a gigabyte."""
_TOTAL = "assayer total"


@solver
def plan_review(method: str = "review", model: str | None = None, cutoff: str | None = None) -> Solver:
    """Review the input, which is a research plan, and replace the model's output with the report. `method`, `model` and
    `cutoff` are passed to `assayer.evaluate`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        report = await _evaluate(state.input_text, method, model, cutoff)
        state.output = ModelOutput.from_content(str(state.model), report.to_markdown())
        state.metadata[_TOTAL] = report.total._asdict()
        state.completed = True
        return state

    return solve


@metric
def rank_agreement() -> Metric:
    """Return Kendall's tau-b between the totals and the numeric targets; NaN if there are fewer than two targets."""

    def agreement(scores: list[SampleScore]) -> float:
        from scipy.stats import kendalltau

        known = [(item.score.as_float(), (item.score.metadata or {}).get("target")) for item in scores]
        pairs = [(total, target) for total, target in known if target is not None]
        return float(kendalltau(*zip(*pairs, strict=True)).statistic) if len(pairs) > 1 else float("nan")

    return agreement


@scorer(metrics=[mean(), stderr(), rank_agreement()])
def report_total(method: str = "review", model: str | None = None, cutoff: str | None = None) -> Scorer:
    """Score a plan by its report's total, 0 to 100. `plan_review` supplies the report; if the task's own model wrote
    the plan, it is reviewed now. If the report has no total, the sample is left unscored, with the reason."""

    async def score(state: TaskState, target: Target) -> Score:
        total = state.metadata.get(_TOTAL)
        if total is None:
            report = await _evaluate(state.output.completion, method, model, cutoff)
            total = report.total._asdict()
        metadata = {"target": _parse_number(target.text)}
        if total["value"] is None:
            return Score.unscored(reason="no_total", explanation=total["reason"], metadata=metadata)
        return Score(value=total["value"], explanation="The report's total, 0 to 100.", metadata=metadata)

    return score


@task
def plan_reviews(
    dataset: str, method: str = "review", model: str | None = None, cutoff: str | None = None, epochs: int = 1
) -> Task:
    """Review each plan in a data set and measure how well the totals agree with the targets. The data set is JSON Lines
    with the plan in `input` and, optionally, a number in `target` that is higher for better plans."""
    return Task(
        dataset=json_dataset(dataset),
        solver=plan_review(method, model, cutoff),
        scorer=report_total(method, model, cutoff),
        epochs=epochs,
    )


async def _evaluate(plan: str, method: str, model: str | None, cutoff: str | None) -> EvaluationReport:
    async with concurrency("assayer", _AT_ONCE):
        return await evaluate_async(plan, method=method, model=model, cutoff=cutoff)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
