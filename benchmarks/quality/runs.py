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
from benchmarks.quality.given import Asked
from benchmarks.quality.grapheval.data import InnoEval
from benchmarks.quality.groups import Group, GroupOutcome, ask_groups
from benchmarks.quality.kept import UNBOUNDED, Kept, Outcome, Spent
from benchmarks.quality.pairs import PairOutcome, ask_pairs, shown_pairs
from benchmarks.quality.points import PointOutcome, ask_points
from benchmarks.quality.rewards.probes import Probe
from benchmarks.quality.rewards.with_model import ProbeOutcome, ask_rewards, most_spent
from benchmarks.quality.rubrics import COVERAGE, Rubric
from benchmarks.quality.scholarideas import CoverageOutcome, ReportOutcome, ask_coverage, ask_reports
from benchmarks.quality.spending import KNOWN, agreed, expected
from cluster.engine import open_engine
from cluster.methods import METHODS
from cluster.ranker import open_ranker
from cluster.reward_judge import open_reward_judge
from cluster.settings import Settings
from index.versions.manifest import read_manifest
from index.versions.version_store import VersionStore

Kind = TypeVar("Kind", bound=Outcome)


async def scores(
    asked: Asked, settings: Settings, ideas: Sequence[Idea], kept: Kept[PointOutcome]
) -> list[PointOutcome]:
    """Return InnoEval's scores of ideas, with one repetition per seed."""
    folder = asked.out / "reports" / kept.path.stem
    folder.mkdir(parents=True, exist_ok=True)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        for seed in sorted({seed for _, seed in some}):
            wanted = {name for name, of in some if of == seed}
            board = settings.innoeval.board.model_copy(update={"seed": seed})
            innoeval = settings.innoeval.model_copy(update={"board": board})
            async with open_engine(settings.model_copy(update={"innoeval": innoeval}), (METHOD,)) as engine:
                await ask_points(engine, [idea for idea in ideas if idea.source in wanted], seed, kept, folder)

    await carefully(
        asked, settings, "points", [(idea.source, seed) for seed in asked.seeds for idea in ideas], kept, work
    )
    return kept.outcomes


def kept_points(asked: Asked, settings: Settings) -> Kept[PointOutcome]:
    return kept_file(asked, settings, "points", PointOutcome, of_method(settings, METHOD))


async def pairs(asked: Asked, settings: Settings, data: InnoEval) -> list[PairOutcome]:
    """Ask about every pair in both orders."""
    made = _of_comparisons(settings)
    kept = kept_file(asked, settings, "pairs", PairOutcome, made)
    drawn = {seed: shown_pairs(data, seed)[: asked.first] for seed in asked.seeds}

    async def work(some: Sequence[tuple[str, int]]) -> None:
        async with open_ranker(settings) as ranker:
            for seed, shown in drawn.items():
                wanted = [item for item in shown if (item.name, seed) in some]
                await ask_pairs(ranker.llm, settings.ranking, wanted, seed, kept)

    await carefully(asked, settings, "pairs", [(item.name, seed) for seed in drawn for item in drawn[seed]], kept, work)
    return kept.outcomes


async def groups(asked: Asked, settings: Settings, shuffled: dict[int, list[Group]]) -> list[GroupOutcome]:
    """Rank the groups as shuffled by each seed."""
    made = _of_comparisons(settings)
    kept = kept_file(asked, settings, "groups", GroupOutcome, made)
    drawn = {seed: some[: asked.first] for seed, some in shuffled.items()}

    async def work(some: Sequence[tuple[str, int]]) -> None:
        async with open_ranker(settings) as ranker:
            for seed, found in drawn.items():
                wanted = [item for item in found if (item.name, seed) in some]
                await ask_groups(ranker.llm, settings.ranking, wanted, seed, kept)

    await carefully(
        asked, settings, "groups", [(item.name, seed) for seed in drawn for item in drawn[seed]], kept, work
    )
    return kept.outcomes


async def reports(
    asked: Asked, settings: Settings, method: str, ideas: Sequence[Idea]
) -> tuple[list[ReportOutcome], Path]:
    """Evaluate ScholarIdeas' ideas, and return the outcomes and the folder with the reports."""
    kept = kept_file(asked, settings, "scholarideas", ReportOutcome, of_method(settings, method))
    folder = asked.out / "reports" / kept.path.stem
    folder.mkdir(parents=True, exist_ok=True)
    chosen = ideas[: asked.first]

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        async with open_engine(settings, (method,)) as engine:
            await ask_reports(engine, method, [idea for idea in chosen if idea.source in wanted], kept, folder)

    await carefully(asked, settings, "scholarideas", [(idea.source, 0) for idea in chosen], kept, work)
    return kept.outcomes, folder


async def coverage(
    asked: Asked, settings: Settings, found: Mapping[str, str], rubrics: Sequence[Rubric], made_by: str
) -> list[CoverageOutcome]:
    """Judge with the language model how well the reviews named by `made_by` cover the rubrics."""
    made = {"task": [COVERAGE.name, COVERAGE.version], "reports": made_by, "shown": "all that is said of the idea"}
    kept = kept_file(asked, settings, "coverage", CoverageOutcome, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        async with open_ranker(settings) as ranker:
            await ask_coverage(
                ranker.llm, {name: item for name, item in found.items() if name in wanted}, rubrics, kept
            )

    await carefully(asked, settings, "coverage", [(name, 0) for name in found], kept, work)
    return kept.outcomes


async def support(
    asked: Asked, settings: Settings, batches: Mapping[str, Sequence[KnownClaim]]
) -> list[SupportOutcomes]:
    """Ask the language model whether each claim is supported, several claims per call."""
    made = {"task": [SUPPORT.name, SUPPORT.version], "claims": CLAIMS_PER_CALL}
    kept = kept_file(asked, settings, "support", SupportOutcomes, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        async with open_ranker(settings) as ranker:
            bounded = asked.judge == "endpoint" and not asked.yes
            budget = Budget(max_usd=asked.limit_usd if bounded else None)
            await ask_support(
                ranker.llm, {name: batch for name, batch in batches.items() if name in wanted}, budget, kept
            )

    await carefully(asked, settings, "support", [(name, 0) for name in batches], kept, work)
    return kept.outcomes


async def rewards(
    asked: Asked, settings: Settings, composition: Composition, probes: Sequence[Probe]
) -> list[ProbeOutcome]:
    """Return the reward of each probe from a debate of the language model."""
    prompts = {task.name: task.version for task in DEBATE_TASKS.values()}
    probed = hashlib.sha256("".join(probe.item.model_dump_json() for probe in probes).encode()).hexdigest()[:16]
    made = {"composition": composition.model_dump(), "prompts": prompts, "probes": probed}
    kept = kept_file(asked, settings, "rewards", ProbeOutcome, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        bounded = asked.judge == "endpoint" and not asked.yes
        async with open_reward_judge(settings, composition.name) as judge:
            budget = Budget(max_usd=asked.limit_usd if bounded else None)
            await ask_rewards(judge.llm, composition, [probe for probe in probes if probe.name in wanted], budget, kept)

    items = [(probe.name, 0) for probe in probes]
    await carefully(asked, _at_judges_price(settings), "rewards", items, kept, work, most_spent(composition))
    return kept.outcomes


def _at_judges_price(settings: Settings) -> Settings:
    """Return settings whose strong model is the judge's: costs are estimated with the strong model's price."""
    if settings.llm is None:
        return settings
    llm = settings.llm.model_copy(update={"model": settings.llm.model_for("judge")})
    return settings.model_copy(update={"llm": llm})


async def carefully(
    asked: Asked,
    settings: Settings,
    part: str,
    items: Sequence[tuple[str, int]],
    kept: Kept[Kind],
    work: Callable[[Sequence[tuple[str, int]]], Coroutine[Any, Any, None]],
    known: Spent | None = None,
) -> None:
    """Do the missing items after printing their expected cost; `known` is an item's cost and replaces the part's known
    cost. If `asked.planned` is set, only add the cost to it."""
    before = known or KNOWN[part]
    if asked.retry_failed:
        kept.forget_failures()
    left = [item for item in items if item not in kept]
    if asked.planned is not None:
        asked.planned.append((part, expected(before, len(left), kept.outcomes, settings.llm)))
        return
    if asked.probe is not None:
        left, after = left[: asked.probe], len(left) - asked.probe
        await _until(asked.deadline, work(left))
        print(expected(before, max(0, after), kept.outcomes, settings.llm))
        return
    print(f"{len(items) - len(left)} of {len(items)} item(s) are done ({kept.path}).", flush=True)
    if not left:
        return
    cost = expected(before, len(left), kept.outcomes, settings.llm)
    if asked.judge is not None:
        print(cost, flush=True)
    agreed_to = asked.judge != "endpoint" or agreed(cost, asked.limit_usd, asked.yes)
    if agreed_to and not await _until(asked.deadline, work(left)):
        missing = sum(item not in kept for item in items)
        print(f"The time limit ended with {missing} of {len(items)} item(s) left.", flush=True)


async def _until(deadline: float | None, work: Coroutine[Any, Any, None]) -> bool:
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


def kept_file(asked: Asked, settings: Settings, part: str, kind: type[Kind], made: dict[str, Any]) -> Kept[Kind]:
    """Return the file of outcomes that are made with the same settings."""
    llm = settings.llm
    made_with = made | {
        "part": part,
        "judge": asked.judge,
        "assayer": __version__,
        "endpoint": (llm.endpoint_name or llm.base_url) if llm and asked.judge == "endpoint" else None,
        "models": llm.models if llm else (),
        "parameters": llm.model_dump(include={"temperature", "seed", "max_answer_tokens"}) if llm else None,
    }
    digest = hashlib.sha256(json.dumps(made_with, sort_keys=True).encode()).hexdigest()[:10]
    path = asked.out / f"{part}-{asked.judge or 'none'}-{digest}.jsonl"
    return Kept(path, kind, made_with, llm.concurrency.max if llm and asked.judge == "endpoint" else UNBOUNDED)


def of_method(settings: Settings, method: str) -> dict[str, Any]:
    options = METHODS[method].options(settings).model_dump(mode="json")
    if method == METHOD:
        options["board"].pop("seed")  # it differs between repetitions
    corpus = read_manifest(VersionStore(settings.corpus_path).current_path()).version
    prompts = {task.name: [task.version, task.digest] for task in METHODS[method].tasks}
    models = {"embedder": settings.embedder.model, "reranker": settings.reranker.model}
    return {"method": method, "options": options, "corpus": corpus, "prompts": prompts, **models}


def _of_comparisons(settings: Settings) -> dict[str, Any]:
    return {"options": settings.ranking.model_dump(mode="json"), "prompts": {COMPARISON.name: COMPARISON.version}}
