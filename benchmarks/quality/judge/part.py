"""Runs the tests of the judge on the plans and prints their figures."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assayer.errors import InputError
from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from benchmarks.quality.judge.answering import PARAGRAPH_NAME, ReviewSource, open_review_source
from benchmarks.quality.judge.coverage import CoverageOutcome, format_coverage, measure_coverage
from benchmarks.quality.judge.sensitivity import SensitivityOutcome, format_sensitivity, measure_sensitivity
from benchmarks.quality.judge.stability import (
    StabilityOutcome,
    format_persuasion,
    format_repeatability,
    measure_persuasion,
    measure_repeatability,
)
from benchmarks.quality.judge.tasks import COMPARISON, FLAW, FLAW_CHECK
from benchmarks.quality.judged_sets.asking import PARAGRAPH
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, format_failures, measure_missing
from benchmarks.quality.part_inputs import PartInputs
from benchmarks.quality.recorded import run_while_answered
from benchmarks.quality.rubrics import COVERAGE, read_rubrics
from benchmarks.quality.runs import describe_method, measure_within_limits, open_outcome_file
from benchmarks.records import DATA, read_records
from benchmarks.throughput.ideas import read_scholar_ideas

TESTS = ("coverage", "sensitivity", "persuasion", "repeatability")
_TUNING_PLANS = frozenset({"ai_3", "ai_11", "ai_20", "ai_22", "ai_27", "ai_33"})
"""Plans of ScholarIdeas on which prompts were tuned."""


class _Test(NamedTuple):
    kind: type[Outcome]
    measure_plan: Callable[[ReviewSource, Idea, int], Awaitable[Any]]
    """Measures one plan with one seed."""
    format_table: Callable[[Sequence[Any]], Iterator[str]]


def run_judge_tests(inputs: PartInputs) -> Iterator[str]:
    """Run what is missing of the chosen tests, and yield their tables."""
    plans = _select_plans(inputs.options.plans)[: inputs.run_options.first]
    yield from inputs.format_warning()
    if inputs.run_options.judge is None:
        raise InputError("The tests of the judge need a language model.", "Use --endpoint, --simulate or --recorded.")
    outcomes_by_test, unanswered_files = asyncio.run(_measure(inputs, plans))
    if inputs.options.recorded:
        list_path = inputs.options.recorded / "waiting.txt"
        files = [str(inputs.options.recorded / "prompts" / f"{name}.md") for name in sorted(unanswered_files)]
        list_path.write_text("".join(f"{file}\n" for file in files), "utf-8")
        yield f"\n{len(unanswered_files)} prompts are waiting for an answer. They are listed in {list_path}."
    for name, outcomes in outcomes_by_test.items():
        yield f"\n## {name.capitalize()}: {len(outcomes)} of {len(plans) * len(inputs.run_options.seeds)} done\n"
        if outcomes:
            yield from _build_tests(inputs, plans)[name].format_table(outcomes)
            yield from format_failures(outcomes)


def _select_plans(plan_names: Sequence[str]) -> list[Idea]:
    """Return the named plans from the data folder or from files; by default, all plans on which nothing was tuned."""
    plans_by_source = {idea.source: idea for idea in read_scholar_ideas(DATA)}
    for record in read_records(DATA / "ai_researcher" / "ideas.jsonl.gz"):
        plans_by_source[record["id"]] = parse_idea(record["text"], record["id"])
    if not plan_names:
        return [idea for name, idea in plans_by_source.items() if name not in _TUNING_PLANS]
    return [plans_by_source[name] if name in plans_by_source else _read_plan(Path(name)) for name in plan_names]


def _read_plan(path: Path) -> Idea:
    if not path.is_file():
        raise InputError(f"The plan {path} does not exist.", "Name a plan in the data folder or a text file.")
    return parse_idea(path.read_text("utf-8"), path.stem)


def _build_tests(inputs: PartInputs, plans: Sequence[Idea]) -> dict[str, _Test]:
    """Return the chosen tests."""
    contenders, rounds = tuple(inputs.options.contenders), inputs.rounds
    rubrics = read_rubrics(inputs.options.rubrics)
    numbers = {idea.source: number for number, idea in enumerate(plans)}
    copies = inputs.options.copies or inputs.settings.home / "judge-copies"
    copies.mkdir(parents=True, exist_ok=True)

    def measure_plan_coverage(reviewer: ReviewSource, idea: Idea, seed: int) -> Awaitable[CoverageOutcome]:
        plan_rubrics = [rubric for rubric in rubrics if rubric.idea == idea.source]
        other_plan = plans[(numbers[idea.source] + 1) % len(plans)] if len(plans) > 1 else None
        return measure_coverage(reviewer, idea, other_plan, contenders, plan_rubrics, seed)

    def measure_plan_sensitivity(reviewer: ReviewSource, idea: Idea, seed: int) -> Awaitable[SensitivityOutcome]:
        return measure_sensitivity(reviewer, idea, numbers[idea.source] + seed, contenders, copies, seed)

    tests = {
        "coverage": _Test(
            CoverageOutcome,
            measure_plan_coverage,
            lambda outcomes: format_coverage(outcomes, rubrics, contenders, rounds),
        ),
        "sensitivity": _Test(
            SensitivityOutcome,
            measure_plan_sensitivity,
            lambda outcomes: format_sensitivity(outcomes, contenders, rounds),
        ),
        "persuasion": _Test(
            StabilityOutcome,
            lambda answering, idea, seed: measure_persuasion(answering, idea, contenders, seed),
            lambda outcomes: format_persuasion(outcomes, contenders, rounds),
        ),
        "repeatability": _Test(
            StabilityOutcome,
            lambda answering, idea, seed: measure_repeatability(answering, idea, contenders, seed),
            lambda outcomes: format_repeatability(outcomes, contenders, rounds),
        ),
    }
    return {name: tests[name] for name in inputs.options.tests or TESTS}


async def _measure(inputs: PartInputs, plans: Sequence[Idea]) -> tuple[dict[str, list[Any]], set[str]]:
    """Return the outcomes by test, and the names of the prompts waiting for a reader."""
    methods = tuple(name for name in inputs.options.contenders if name != PARAGRAPH_NAME)
    outcomes_by_test: dict[str, list[Any]] = {}
    async with open_review_source(inputs, methods) as answering:
        for name, test in _build_tests(inputs, plans).items():
            outcome_file = _open_outcomes(inputs, name, test, methods)
            if name == "coverage":
                selected_plans = [idea for idea in plans if (inputs.options.rubrics / idea.source).is_dir()]
            else:
                selected_plans = [*plans]
            items = [(idea, idea.source, seed) for seed in inputs.run_options.seeds for idea in selected_plans]
            await _measure_test(inputs, answering, test, outcome_file, items, name)
            names = {idea.source for idea in plans}
            outcomes_by_test[name] = [outcome for outcome in outcome_file.outcomes if outcome.item in names]
        return outcomes_by_test, answering.recorded.waiting if answering.recorded else set()


async def _measure_test(
    inputs: PartInputs,
    reviewer: ReviewSource,
    test: _Test,
    outcome_file: OutcomeFile[Any],
    items: Sequence[tuple[Idea, str, int]],
    name: str,
) -> None:
    def build_failure(item: str, seed: int, reason: str) -> Outcome:
        return test.kind(item=item, seed=seed, failure=reason)

    async def measure(missing_items: Sequence[tuple[str, int]]) -> None:
        selected_items = [item for item in items if item[1:] in set(missing_items)]
        remaining = measure_missing(
            selected_items, outcome_file, lambda idea, seed: test.measure_plan(reviewer, idea, seed), build_failure
        )
        if reviewer.recorded:
            await run_while_answered(remaining, reviewer.recorded)
        else:
            await remaining

    pairs = [(source, seed) for _, source, seed in items]
    await measure_within_limits(inputs.run_options, inputs.settings, f"judge {name}", pairs, outcome_file, measure)


def _open_outcomes(inputs: PartInputs, name: str, test: _Test, methods: Sequence[str]) -> OutcomeFile[Any]:
    options = inputs.options
    tasks = (COVERAGE, COMPARISON, FLAW, FLAW_CHECK, PARAGRAPH)
    parameters = {
        "methods": [describe_method(inputs.settings, method) for method in methods],
        "contenders": options.contenders,
        "words": options.words,
        "tasks": {task.name: task.digest for task in tasks},
        "recorded": str(options.recorded.absolute()) if options.recorded else None,
    }
    return open_outcome_file(inputs.run_options, inputs.settings, f"judge-{name}", test.kind, parameters)
