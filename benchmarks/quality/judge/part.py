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
from benchmarks.quality.judge.sensitivity import SensitivityOutcome, sensitivity_of, sensitivity_table
from benchmarks.quality.judge.stability import (
    StabilityOutcome,
    persuasion_of,
    persuasion_table,
    repeatability_of,
    repeatability_table,
)
from benchmarks.quality.judge.tasks import COMPARISON, FLAW, FLAW_CHECK
from benchmarks.quality.judged_sets.asking import PARAGRAPH
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, failure_reasons, measure_missing
from benchmarks.quality.part_inputs import PartInputs
from benchmarks.quality.recorded import as_far_as_answered
from benchmarks.quality.rubrics import COVERAGE, read_rubrics
from benchmarks.quality.runs import measure_within_limits, of_method, open_outcome_file
from benchmarks.records import DATA, read_records
from benchmarks.throughput.ideas import scholar_ideas

TESTS = ("coverage", "sensitivity", "persuasion", "repeatability")
_USED_UP = frozenset({"ai_3", "ai_11", "ai_20", "ai_22", "ai_27", "ai_33"})
"""Plans of ScholarIdeas on which prompts were tuned."""


class _Test(NamedTuple):
    kind: type[Outcome]
    of_plan: Callable[[ReviewSource, Idea, int], Awaitable[Any]]
    """Measures one plan with one seed."""
    table: Callable[[Sequence[Any]], Iterator[str]]


def judge(inputs: PartInputs) -> Iterator[str]:
    """Run what is missing of the chosen tests, and yield their tables."""
    plans = _plans(inputs.options.plans)[: inputs.run_options.first]
    yield from inputs.warning()
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
            yield from _tests(inputs, plans)[name].table(outcomes)
            yield from failure_reasons(outcomes)


def _plans(names: Sequence[str]) -> list[Idea]:
    """Return the named plans from the data folder or from files; by default, all plans on which nothing was tuned."""
    plans_by_source = {idea.source: idea for idea in scholar_ideas(DATA)}
    for record in read_records(DATA / "ai_researcher" / "ideas.jsonl.gz"):
        plans_by_source[record["id"]] = parse_idea(record["text"], record["id"])
    if not names:
        return [idea for name, idea in plans_by_source.items() if name not in _USED_UP]
    return [plans_by_source[name] if name in plans_by_source else _from_file(Path(name)) for name in names]


def _from_file(path: Path) -> Idea:
    if not path.is_file():
        raise InputError(f"The plan {path} does not exist.", "Name a plan in the data folder or a text file.")
    return parse_idea(path.read_text("utf-8"), path.stem)


def _tests(inputs: PartInputs, plans: Sequence[Idea]) -> dict[str, _Test]:
    """Return the chosen tests."""
    contenders, rounds = tuple(inputs.options.contenders), inputs.rounds
    rubrics = read_rubrics(inputs.options.rubrics)
    numbers = {idea.source: number for number, idea in enumerate(plans)}
    copies = inputs.options.copies or inputs.settings.home / "judge-copies"
    copies.mkdir(parents=True, exist_ok=True)

    def coverage(reviewer: ReviewSource, idea: Idea, seed: int) -> Awaitable[CoverageOutcome]:
        plan_rubrics = [rubric for rubric in rubrics if rubric.idea == idea.source]
        other_plan = plans[(numbers[idea.source] + 1) % len(plans)] if len(plans) > 1 else None
        return measure_coverage(reviewer, idea, other_plan, contenders, plan_rubrics, seed)

    def sensitivity(reviewer: ReviewSource, idea: Idea, seed: int) -> Awaitable[SensitivityOutcome]:
        return sensitivity_of(reviewer, idea, numbers[idea.source] + seed, contenders, copies, seed)

    tests = {
        "coverage": _Test(
            CoverageOutcome, coverage, lambda outcomes: format_coverage(outcomes, rubrics, contenders, rounds)
        ),
        "sensitivity": _Test(
            SensitivityOutcome, sensitivity, lambda outcomes: sensitivity_table(outcomes, contenders, rounds)
        ),
        "persuasion": _Test(
            StabilityOutcome,
            lambda answering, idea, seed: persuasion_of(answering, idea, contenders, seed),
            lambda outcomes: persuasion_table(outcomes, contenders, rounds),
        ),
        "repeatability": _Test(
            StabilityOutcome,
            lambda answering, idea, seed: repeatability_of(answering, idea, contenders, seed),
            lambda outcomes: repeatability_table(outcomes, contenders, rounds),
        ),
    }
    return {name: tests[name] for name in inputs.options.tests or TESTS}


async def _measure(inputs: PartInputs, plans: Sequence[Idea]) -> tuple[dict[str, list[Any]], set[str]]:
    """Return the outcomes by test, and the names of the prompts waiting for a reader."""
    methods = tuple(name for name in inputs.options.contenders if name != PARAGRAPH_NAME)
    outcomes_by_test: dict[str, list[Any]] = {}
    async with open_review_source(inputs, methods) as answering:
        for name, test in _tests(inputs, plans).items():
            kept = _kept(inputs, name, test, methods)
            if name == "coverage":
                selected_plans = [idea for idea in plans if (inputs.options.rubrics / idea.source).is_dir()]
            else:
                selected_plans = [*plans]
            items = [(idea, idea.source, seed) for seed in inputs.run_options.seeds for idea in selected_plans]
            await _do(inputs, answering, test, kept, items, name)
            names = {idea.source for idea in plans}
            outcomes_by_test[name] = [outcome for outcome in kept.outcomes if outcome.item in names]
        return outcomes_by_test, answering.recorded.waiting if answering.recorded else set()


async def _do(
    inputs: PartInputs,
    reviewer: ReviewSource,
    test: _Test,
    outcome_file: OutcomeFile[Any],
    items: Sequence[tuple[Idea, str, int]],
    name: str,
) -> None:
    def failed(item: str, seed: int, reason: str) -> Outcome:
        return test.kind(item=item, seed=seed, failure=reason)

    async def work(missing_items: Sequence[tuple[str, int]]) -> None:
        selected_items = [item for item in items if item[1:] in set(missing_items)]
        rest = measure_missing(
            selected_items, outcome_file, lambda idea, seed: test.of_plan(reviewer, idea, seed), failed
        )
        if reviewer.recorded:
            await as_far_as_answered(rest, reviewer.recorded)
        else:
            await rest

    pairs = [(source, seed) for _, source, seed in items]
    await measure_within_limits(inputs.run_options, inputs.settings, f"judge {name}", pairs, outcome_file, work)


def _kept(inputs: PartInputs, name: str, test: _Test, methods: Sequence[str]) -> OutcomeFile[Any]:
    options = inputs.options
    tasks = (COVERAGE, COMPARISON, FLAW, FLAW_CHECK, PARAGRAPH)
    parameters = {
        "methods": [of_method(inputs.settings, method) for method in methods],
        "contenders": options.contenders,
        "words": options.words,
        "tasks": {task.name: task.digest for task in tasks},
        "recorded": str(options.recorded.absolute()) if options.recorded else None,
    }
    return open_outcome_file(inputs.run_options, inputs.settings, f"judge-{name}", test.kind, parameters)
