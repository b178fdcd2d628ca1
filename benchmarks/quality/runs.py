"""Runs each part: opens the program, prints the expected cost, and does what is missing."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from assayer.claim_support.checking import CLAIMS_PER_CALL
from assayer.claim_support.task import SUPPORT
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.tasks import DEBATE_TASKS
from assayer.methods.innoeval.options import METHOD
from assayer.models import Idea
from assayer.ranking.comparison import COMPARISON
from assayer.run.budget import Budget
from assayer.version import __version__
from benchmarks.quality.claim_support.items import KnownClaim
from benchmarks.quality.claim_support.with_model import SupportOutcomes, ask_support
from benchmarks.quality.grapheval.data import InnoEval
from benchmarks.quality.groups import Group, GroupOutcome, ask_groups
from benchmarks.quality.outcome_file import UNBOUNDED, Outcome, OutcomeFile, Spending
from benchmarks.quality.pairs import PairOutcome, ask_pairs, draw_shown_pairs
from benchmarks.quality.part_inputs import RunOptions
from benchmarks.quality.points import PointOutcome, ask_points
from benchmarks.quality.rewards.probes import Probe
from benchmarks.quality.rewards.with_model import ProbeOutcome, ask_rewards, compute_max_spending
from benchmarks.quality.rubrics import COVERAGE, Rubric
from benchmarks.quality.scholarideas import CoverageOutcome, ReportOutcome, ask_coverage, ask_reports
from benchmarks.quality.spending import KNOWN_COSTS, confirm_cost, estimate_cost
from cluster.engine import open_engine
from cluster.methods import METHODS
from cluster.ranker import open_ranker
from cluster.reward_judge import open_reward_judge
from cluster.settings import Settings
from index.versions.manifest import read_manifest
from index.versions.version_store import VersionStore

Kind = TypeVar("Kind", bound=Outcome)


async def run_points(
    run_options: RunOptions, settings: Settings, ideas: Sequence[Idea], outcome_file: OutcomeFile[PointOutcome]
) -> list[PointOutcome]:
    """Return InnoEval's scores of ideas, with one repetition per seed."""
    folder = run_options.out / "reports" / outcome_file.path.stem
    folder.mkdir(parents=True, exist_ok=True)

    async def measure(items: Sequence[tuple[str, int]]) -> None:
        for seed in sorted({seed for _, seed in items}):
            names = {name for name, item_seed in items if item_seed == seed}
            board = settings.innoeval.board.model_copy(update={"seed": seed})
            innoeval = settings.innoeval.model_copy(update={"board": board})
            async with open_engine(settings.model_copy(update={"innoeval": innoeval}), (METHOD,)) as engine:
                await ask_points(engine, [idea for idea in ideas if idea.source in names], seed, outcome_file, folder)

    await measure_within_limits(
        run_options,
        settings,
        "points",
        [(idea.source, seed) for seed in run_options.seeds for idea in ideas],
        outcome_file,
        measure,
    )
    return outcome_file.outcomes


def open_points_file(run_options: RunOptions, settings: Settings) -> OutcomeFile[PointOutcome]:
    return open_outcome_file(run_options, settings, "points", PointOutcome, describe_method(settings, METHOD))


async def run_pairs(run_options: RunOptions, settings: Settings, data: InnoEval) -> list[PairOutcome]:
    """Ask about every pair in both orders."""
    parameters = _describe_comparisons(settings)
    outcome_file = open_outcome_file(run_options, settings, "pairs", PairOutcome, parameters)
    pairs_by_seed = {seed: draw_shown_pairs(data, seed)[: run_options.first] for seed in run_options.seeds}

    async def measure(items: Sequence[tuple[str, int]]) -> None:
        async with open_ranker(settings) as ranker:
            for seed, shown_pairs in pairs_by_seed.items():
                missing_pairs = [pair for pair in shown_pairs if (pair.name, seed) in items]
                await ask_pairs(ranker.llm, settings.ranking, missing_pairs, seed, outcome_file)

    await measure_within_limits(
        run_options,
        settings,
        "pairs",
        [(pair.name, seed) for seed in pairs_by_seed for pair in pairs_by_seed[seed]],
        outcome_file,
        measure,
    )
    return outcome_file.outcomes


async def run_groups(
    run_options: RunOptions, settings: Settings, groups_by_seed: dict[int, list[Group]]
) -> list[GroupOutcome]:
    """Rank the groups as shuffled by each seed."""
    parameters = _describe_comparisons(settings)
    outcome_file = open_outcome_file(run_options, settings, "groups", GroupOutcome, parameters)
    selected_by_seed = {seed: groups[: run_options.first] for seed, groups in groups_by_seed.items()}

    async def measure(items: Sequence[tuple[str, int]]) -> None:
        async with open_ranker(settings) as ranker:
            for seed, seed_groups in selected_by_seed.items():
                missing_groups = [group for group in seed_groups if (group.name, seed) in items]
                await ask_groups(ranker.llm, settings.ranking, missing_groups, seed, outcome_file)

    await measure_within_limits(
        run_options,
        settings,
        "groups",
        [(group.name, seed) for seed in selected_by_seed for group in selected_by_seed[seed]],
        outcome_file,
        measure,
    )
    return outcome_file.outcomes


async def run_reports(
    run_options: RunOptions, settings: Settings, method: str, ideas: Sequence[Idea]
) -> tuple[list[ReportOutcome], Path]:
    """Evaluate ScholarIdeas' ideas, and return the outcomes and the folder with the reports."""
    outcome_file = open_outcome_file(
        run_options, settings, "scholarideas", ReportOutcome, describe_method(settings, method)
    )
    folder = run_options.out / "reports" / outcome_file.path.stem
    folder.mkdir(parents=True, exist_ok=True)
    selected_ideas = ideas[: run_options.first]

    async def measure(items: Sequence[tuple[str, int]]) -> None:
        names = {name for name, _ in items}
        async with open_engine(settings, (method,)) as engine:
            await ask_reports(
                engine, method, [idea for idea in selected_ideas if idea.source in names], outcome_file, folder
            )

    await measure_within_limits(
        run_options, settings, "scholarideas", [(idea.source, 0) for idea in selected_ideas], outcome_file, measure
    )
    return outcome_file.outcomes, folder


async def run_coverage(
    run_options: RunOptions, settings: Settings, reviews: Mapping[str, str], rubrics: Sequence[Rubric], origin: str
) -> list[CoverageOutcome]:
    """Judge with the language model how well the reviews named by `origin` cover the rubrics."""
    parameters = {"task": [COVERAGE.name, COVERAGE.version], "reports": origin, "shown": "all that is said of the idea"}
    outcome_file = open_outcome_file(run_options, settings, "coverage", CoverageOutcome, parameters)

    async def measure(items: Sequence[tuple[str, int]]) -> None:
        names = {name for name, _ in items}
        async with open_ranker(settings) as ranker:
            await ask_coverage(
                ranker.llm, {name: review for name, review in reviews.items() if name in names}, rubrics, outcome_file
            )

    await measure_within_limits(
        run_options, settings, "coverage", [(name, 0) for name in reviews], outcome_file, measure
    )
    return outcome_file.outcomes


async def run_support(
    run_options: RunOptions, settings: Settings, batches: Mapping[str, Sequence[KnownClaim]]
) -> list[SupportOutcomes]:
    """Ask the language model whether each claim is supported, several claims per call."""
    parameters = {"task": [SUPPORT.name, SUPPORT.version], "claims": CLAIMS_PER_CALL}
    outcome_file = open_outcome_file(run_options, settings, "support", SupportOutcomes, parameters)

    async def measure(items: Sequence[tuple[str, int]]) -> None:
        names = {name for name, _ in items}
        async with open_ranker(settings) as ranker:
            is_bounded = run_options.judge == "endpoint" and not run_options.yes
            budget = Budget(max_usd=run_options.limit_usd if is_bounded else None)
            await ask_support(
                ranker.llm, {name: batch for name, batch in batches.items() if name in names}, budget, outcome_file
            )

    await measure_within_limits(
        run_options, settings, "support", [(name, 0) for name in batches], outcome_file, measure
    )
    return outcome_file.outcomes


async def run_rewards(
    run_options: RunOptions, settings: Settings, composition: Composition, probes: Sequence[Probe]
) -> list[ProbeOutcome]:
    """Return the reward of each probe from a debate of the language model."""
    prompts = {task.name: task.version for task in DEBATE_TASKS.values()}
    probes_digest = hashlib.sha256("".join(probe.item.model_dump_json() for probe in probes).encode()).hexdigest()[:16]
    parameters = {"composition": composition.model_dump(), "prompts": prompts, "probes": probes_digest}
    outcome_file = open_outcome_file(run_options, settings, "rewards", ProbeOutcome, parameters)

    async def measure(missing_items: Sequence[tuple[str, int]]) -> None:
        names = {name for name, _ in missing_items}
        is_bounded = run_options.judge == "endpoint" and not run_options.yes
        async with open_reward_judge(settings, composition.name) as judge:
            budget = Budget(max_usd=run_options.limit_usd if is_bounded else None)
            await ask_rewards(
                judge.llm, composition, [probe for probe in probes if probe.name in names], budget, outcome_file
            )

    items = [(probe.name, 0) for probe in probes]
    await measure_within_limits(
        run_options,
        _price_as_judge(settings),
        "rewards",
        items,
        outcome_file,
        measure,
        compute_max_spending(composition),
    )
    return outcome_file.outcomes


def _price_as_judge(settings: Settings) -> Settings:
    """Return settings whose strong model is the judge's: costs are estimated with the strong model's price."""
    if settings.llm is None:
        return settings
    llm = settings.llm.model_copy(update={"model": settings.llm.get_model_for("judge")})
    return settings.model_copy(update={"llm": llm})


async def measure_within_limits(
    run_options: RunOptions,
    settings: Settings,
    part: str,
    items: Sequence[tuple[str, int]],
    outcome_file: OutcomeFile[Kind],
    measure: Callable[[Sequence[tuple[str, int]]], Coroutine[Any, Any, None]],
    known_cost: Spending | None = None,
) -> None:
    """Do the missing items after printing their expected cost; `known_cost` is an item's cost and replaces the part's
    known cost. If `run_options.planned` is set, only add the cost to it."""
    item_cost = known_cost or KNOWN_COSTS[part]
    if run_options.retry_failed:
        outcome_file.forget_failures()
    remaining_items = [item for item in items if item not in outcome_file]
    if run_options.planned is not None:
        run_options.planned.append(
            (part, estimate_cost(item_cost, len(remaining_items), outcome_file.outcomes, settings.llm))
        )
        return
    if run_options.probe is not None:
        remaining_items, later_count = remaining_items[: run_options.probe], len(remaining_items) - run_options.probe
        await _run_until(run_options.deadline, measure(remaining_items))
        print(estimate_cost(item_cost, max(0, later_count), outcome_file.outcomes, settings.llm))
        return
    print(f"{len(items) - len(remaining_items)} of {len(items)} item(s) are done ({outcome_file.path}).", flush=True)
    if not remaining_items:
        return
    cost = estimate_cost(item_cost, len(remaining_items), outcome_file.outcomes, settings.llm)
    if run_options.judge is not None:
        print(cost, flush=True)
    is_confirmed = run_options.judge != "endpoint" or confirm_cost(cost, run_options.limit_usd, run_options.yes)
    if is_confirmed and not await _run_until(run_options.deadline, measure(remaining_items)):
        missing_count = sum(item not in outcome_file for item in items)
        print(f"The time limit ended with {missing_count} of {len(items)} item(s) left.", flush=True)


async def _run_until(deadline: float | None, work: Coroutine[Any, Any, None]) -> bool:
    """Run `work` until it ends or the deadline interrupts it, and return whether it ended. After the deadline it does
    not begin."""
    if deadline is not None and deadline <= time.monotonic():
        work.close()
        return False
    try:
        async with asyncio.timeout(None if deadline is None else deadline - time.monotonic()) as limit:
            await work
    except TimeoutError:
        if not limit.expired():
            raise
        return False
    return True


def open_outcome_file(
    run_options: RunOptions, settings: Settings, part: str, kind: type[Kind], parameters: dict[str, Any]
) -> OutcomeFile[Kind]:
    """Return the file of outcomes that are made with the same settings."""
    llm = settings.llm
    made_with = parameters | {
        "part": part,
        "judge": run_options.judge,
        "assayer": __version__,
        "endpoint": (llm.endpoint_name or llm.base_url) if llm and run_options.judge == "endpoint" else None,
        "models": llm.models if llm else (),
        "parameters": llm.model_dump(include={"temperature", "seed", "max_answer_tokens"}) if llm else None,
    }
    digest = hashlib.sha256(json.dumps(made_with, sort_keys=True).encode()).hexdigest()[:10]
    path = run_options.out / f"{part}-{run_options.judge or 'none'}-{digest}.jsonl"
    return OutcomeFile(
        path, kind, made_with, llm.concurrency.max if llm and run_options.judge == "endpoint" else UNBOUNDED
    )


def describe_method(settings: Settings, method: str) -> dict[str, Any]:
    options = METHODS[method].options(settings).model_dump(mode="json")
    if method == METHOD:
        options["board"].pop("seed")  # it differs between repetitions
    corpus = read_manifest(VersionStore(settings.corpus_path).find_current_path()).version
    prompts = {task.name: [task.version, task.digest] for task in METHODS[method].tasks}
    models = {"embedder": settings.embedder.model, "reranker": settings.reranker.model}
    return {"method": method, "options": options, "corpus": corpus, "prompts": prompts, **models}


def _describe_comparisons(settings: Settings) -> dict[str, Any]:
    return {"options": settings.ranking.model_dump(mode="json"), "prompts": {COMPARISON.name: COMPARISON.version}}
