"""What each part asks: opens the program, says what it will cost, does what is not done yet."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from assayer import __version__
from assayer.claim_support.checking import CLAIMS_PER_CALL
from assayer.claim_support.task import SUPPORT
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.tasks import DEBATE_TASKS
from assayer.methods.innoeval.options import METHOD
from assayer.models import Idea
from assayer.ranking.comparison import COMPARISON
from assayer.run.budget import Budget
from benchmarks.quality.claim_support.items import KnownClaim
from benchmarks.quality.claim_support.with_model import SupportOutcomes, ask_support
from benchmarks.quality.given import Asked
from benchmarks.quality.grapheval.data import InnoEval
from benchmarks.quality.groups import Group, GroupOutcome, ask_groups
from benchmarks.quality.kept import Kept, Outcome, Spent
from benchmarks.quality.pairs import PairOutcome, ask_pairs, shown_pairs
from benchmarks.quality.papers import EARLIEST, cutoffs, idea_of
from benchmarks.quality.points import PointOutcome, ask_points
from benchmarks.quality.preferences.comparison import (
    PREFERENCE,
    PreferenceOutcome,
    ReviewPair,
    ask_preferences,
    review_text,
)
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

__all__ = [
    "carefully",
    "coverage",
    "groups",
    "kept_file",
    "kept_points",
    "pairs",
    "points",
    "preferences",
    "reports",
    "rewards",
    "scores",
    "support",
]

Kind = TypeVar("Kind", bound=Outcome)


async def points(asked: Asked, settings: Settings, data: InnoEval, everything: bool) -> list[PointOutcome]:
    """One repeat a seed: the board is drawn, and its evidence masked, by it. `everything` adds the papers of groups."""
    days = cutoffs()
    papers = {one.id: one for one in [*data.points, *(data.grouped if everything else [])]}
    ideas = [idea_of(one, days.get(one.id, EARLIEST)) for one in papers.values()][: asked.first]
    return await scores(asked, settings, ideas, kept_points(asked, settings))


async def scores(
    asked: Asked, settings: Settings, ideas: Sequence[Idea], kept: Kept[PointOutcome]
) -> list[PointOutcome]:
    """InnoEval's, of any ideas; one repeat a seed."""
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
    return kept_file(asked, settings, "points", PointOutcome, _of_method(settings, METHOD))


async def pairs(
    asked: Asked, settings: Settings, data: InnoEval, both: bool, evidence: Mapping[str, str] | None = None
) -> list[PairOutcome]:
    """`evidence`: what reports found, by the paper's id; None shows the papers alone."""
    made = _of_comparisons(settings) | {"both": both} | _of_evidence(evidence)
    kept = kept_file(asked, settings, "pairs", PairOutcome, made)
    drawn = {seed: shown_pairs(data, seed)[: asked.first] for seed in asked.seeds}

    async def work(some: Sequence[tuple[str, int]]) -> None:
        async with open_ranker(settings) as ranker:
            for seed, shown in drawn.items():
                wanted = [one for one in shown if (one.name, seed) in some]
                await ask_pairs(ranker.llm, settings.ranking, wanted, seed, both, kept, evidence)

    part = "pairs in both orders" if both else "pairs"
    await carefully(asked, settings, part, [(one.name, seed) for seed in drawn for one in drawn[seed]], kept, work)
    return kept.outcomes


async def groups(
    asked: Asked, settings: Settings, shuffled: dict[int, list[Group]], evidence: Mapping[str, str] | None = None
) -> list[GroupOutcome]:
    """Of the groups as each seed shuffled them; `evidence` as of `pairs`."""
    made = _of_comparisons(settings) | _of_evidence(evidence)
    kept = kept_file(asked, settings, "groups", GroupOutcome, made)
    drawn = {seed: some[: asked.first] for seed, some in shuffled.items()}

    async def work(some: Sequence[tuple[str, int]]) -> None:
        async with open_ranker(settings) as ranker:
            for seed, found in drawn.items():
                wanted = [one for one in found if (one.name, seed) in some]
                await ask_groups(ranker.llm, settings.ranking, wanted, seed, kept, evidence)

    await carefully(asked, settings, "groups", [(one.name, seed) for seed in drawn for one in drawn[seed]], kept, work)
    return kept.outcomes


async def reports(
    asked: Asked, settings: Settings, method: str, ideas: Sequence[Idea]
) -> tuple[list[ReportOutcome], Path]:
    """Of ScholarIdeas, and the folder where the reports lie."""
    kept = kept_file(asked, settings, "scholarideas", ReportOutcome, _of_method(settings, method))
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
    """Of the rubrics by the reviews that `made_by` names, as the language model judges."""
    made = {"task": [COVERAGE.name, COVERAGE.version], "reports": made_by, "shown": "all that is said of the idea"}
    kept = kept_file(asked, settings, "coverage", CoverageOutcome, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        async with open_ranker(settings) as ranker:
            await ask_coverage(ranker.llm, {name: one for name, one in found.items() if name in wanted}, rubrics, kept)

    await carefully(asked, settings, "coverage", [(name, 0) for name in found], kept, work)
    return kept.outcomes


async def preferences(asked: Asked, settings: Settings, pairs: Sequence[ReviewPair]) -> list[PreferenceOutcome]:
    """Which of two reviews of an idea is better, in both orders."""
    reviews = "".join(review_text(report) for pair in pairs for report in (pair.first, pair.second))
    made = {
        "task": [PREFERENCE.name, PREFERENCE.version],
        "reviews": hashlib.sha256(reviews.encode()).hexdigest(),
    }
    kept = kept_file(asked, settings, "preferences", PreferenceOutcome, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        bounded = asked.judge == "endpoint" and not asked.yes
        async with open_ranker(settings) as ranker:
            budget = Budget(max_usd=asked.limit_usd if bounded else None)
            for seed in asked.seeds:
                wanted = [pair for pair in pairs if (pair.name, seed) in some]
                await ask_preferences(ranker.llm, wanted, seed, budget, kept)

    items = [(pair.name, seed) for seed in asked.seeds for pair in pairs]
    await carefully(asked, settings, "preferences", items, kept, work)
    return kept.outcomes


async def support(
    asked: Asked, settings: Settings, batches: Mapping[str, Sequence[KnownClaim]]
) -> list[SupportOutcomes]:
    """What the language model says of each claim, several claims a call."""
    made = {"task": [SUPPORT.name, SUPPORT.version], "claims": CLAIMS_PER_CALL}
    kept = kept_file(asked, settings, "support", SupportOutcomes, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        async with open_ranker(settings) as ranker:
            bounded = asked.judge == "endpoint" and not asked.yes
            budget = Budget(max_usd=asked.limit_usd if bounded else None)
            await ask_support(ranker.llm, {name: one for name, one in batches.items() if name in wanted}, budget, kept)

    await carefully(asked, settings, "support", [(name, 0) for name in batches], kept, work)
    return kept.outcomes


async def rewards(
    asked: Asked, settings: Settings, composition: Composition, probes: Sequence[Probe]
) -> list[ProbeOutcome]:
    """What a debate between language models gives for each probe."""
    prompts = {task.name: task.version for task in DEBATE_TASKS.values()}
    probed = hashlib.sha256("".join(one.item.model_dump_json() for one in probes).encode()).hexdigest()[:16]
    made = {"composition": composition.model_dump(), "prompts": prompts, "probes": probed}
    kept = kept_file(asked, settings, "rewards", ProbeOutcome, made)

    async def work(some: Sequence[tuple[str, int]]) -> None:
        wanted = {name for name, _ in some}
        bounded = asked.judge == "endpoint" and not asked.yes
        async with open_reward_judge(settings, composition.name) as judge:
            budget = Budget(max_usd=asked.limit_usd if bounded else None)
            await ask_rewards(judge.llm, composition, [one for one in probes if one.name in wanted], budget, kept)

    items = [(one.name, 0) for one in probes]
    await carefully(asked, _at_judges_price(settings), "rewards", items, kept, work, most_spent(composition))
    return kept.outcomes


def _at_judges_price(settings: Settings) -> Settings:
    """Costs are told at the price of the model called strong; seats are asked of the judge's."""
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
    work: Callable[[Sequence[tuple[str, int]]], Awaitable[None]],
    known: Spent | None = None,
) -> None:
    """Does the items that are not done, after telling what they will cost; `known` of an item, in place of what is
    known of the part. Where a plan is made nothing is asked: the cost is added to it."""
    before = known or KNOWN[part]
    if asked.retry_failed:
        kept.forget_failures()
    left = [item for item in items if item not in kept]
    if asked.planned is not None:
        asked.planned.append((part, expected(before, len(left), kept.outcomes, settings.llm)))
        return
    if asked.probe is not None:
        left, after = left[: asked.probe], len(left) - asked.probe
        await work(left)
        print(expected(before, max(0, after), kept.outcomes, settings.llm))
        return
    print(f"{len(items) - len(left)} of {len(items)} item(s) are done ({kept.path}).", flush=True)
    if not left:
        return
    cost = expected(before, len(left), kept.outcomes, settings.llm)
    if asked.judge is not None:
        print(cost, flush=True)
    if asked.judge != "endpoint" or agreed(cost, asked.limit_usd, asked.yes):
        await work(left)


def kept_file(asked: Asked, settings: Settings, part: str, kind: type[Kind], made: dict[str, Any]) -> Kept[Kind]:
    """A file for everything that was made in one way."""
    llm = settings.llm
    made_with = made | {
        "part": part,
        "judge": asked.judge,
        "assayer": __version__,
        "endpoint": llm.base_url if llm and asked.judge == "endpoint" else None,
        "models": llm.models if llm else (),
        "parameters": llm.model_dump(include={"temperature", "seed", "max_answer_tokens"}) if llm else None,
    }
    digest = hashlib.sha256(json.dumps(made_with, sort_keys=True).encode()).hexdigest()[:10]
    return Kept(asked.out / f"{part}-{asked.judge or 'none'}-{digest}.jsonl", kind, made_with)


def _of_method(settings: Settings, method: str) -> dict[str, Any]:
    options = METHODS[method].options(settings).model_dump(mode="json")
    if method == METHOD:
        options["board"].pop("seed")  # the repeats differ in it
    corpus = read_manifest(VersionStore(settings.corpus_path).current_path()).version
    prompts = {task.name: task.version for task in METHODS[method].tasks}
    models = {"embedder": settings.embedder.model, "reranker": settings.reranker.model}
    return {"method": method, "options": options, "corpus": corpus, "prompts": prompts, **models}


def _of_evidence(evidence: Mapping[str, str] | None) -> dict[str, Any]:
    if evidence is None:
        return {}
    return {"evidence": hashlib.sha256(json.dumps(evidence, sort_keys=True).encode()).hexdigest()}


def _of_comparisons(settings: Settings) -> dict[str, Any]:
    return {"options": settings.ranking.model_dump(mode="json"), "prompts": {COMPARISON.name: COMPARISON.version}}
