"""Reward judges by name: built-in and custom debates, and a judge that needs no language model."""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from assayer.errors import NoFallback
from assayer.llm import Llm
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.methods.debate.options import VIEWPOINTS, DebateOptions, ViewpointJudge
from assayer.methods.debate.viewpoint_judge import judge_by_viewpoints
from assayer.models.reward import RewardItem
from assayer.ports import Clock, Embedder, Progress
from assayer.run.run import Run
from assayer.version import __version__
from assayer_client.rewards import Reward
from cluster.language_model import open_models
from cluster.run_request import LOCAL_REQUEST, RunRequest, normalise_result_inputs
from cluster.settings import Settings
from orchestrator.jobs.requests import NamedRewardItem

RewardingJudge: TypeAlias = Composition | ViewpointJudge


def describe_known_judges(options: DebateOptions) -> Mapping[str, str]:
    """Return a one-line description of each judge, by name. Raises InputError if the compositions file is unusable."""
    debates = {
        name: _describe_composition(composition) for name, composition in options.load_known_compositions().items()
    }
    return {
        **debates,
        VIEWPOINTS: "Similarity of the idea's words and viewpoints to the abstract's, without a language model.",
    }


def _describe_composition(composition: Composition) -> str:
    seats = ", ".join(f"{len(group)} {group[0].role}{'s' * (len(group) > 1)}" for group in composition.groups)
    return f"A debate of {seats}, in at most {composition.rounds} rounds."


def find_usable_judge(settings: Settings, judge: str | RewardingJudge | None) -> RewardingJudge:
    """Return a usable judge: the one with this name, the judge itself if one is passed, or the configured one for None.
    Raises InputError if the name is unknown, and NoFallback if the judge needs a language model and none is
    configured."""
    if isinstance(judge, ViewpointJudge):
        return judge
    if not isinstance(judge, Composition):
        if (judge or settings.debate.composition) == VIEWPOINTS:
            return settings.debate.viewpoints
        judge = settings.debate.get_composition(judge)
    if settings.llm is None:
        raise NoFallback(
            "Rewards by debate need a language model, but none is configured.",
            "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__JUDGE_MODEL if a different model "
            f"should judge. Or use the judge {VIEWPOINTS!r}, which needs no language model.",
        )
    return judge


@dataclass(frozen=True)
class RewardJudge:
    """Judges reward items, many of them concurrently."""

    settings: Settings
    llm: Llm
    embedder: Embedder
    clock: Clock

    async def reward(self, item: RewardItem, judge: str | RewardingJudge | None, run: Run) -> Reward:
        """Return an item's reward. If the judge fails, the reward's value is Absent with the reason. Raises InputError
        or NoFallback if the judge cannot be used."""
        usable_judge = find_usable_judge(self.settings, judge)
        if isinstance(usable_judge, ViewpointJudge):
            return await judge_by_viewpoints(item, self.embedder, usable_judge)
        return await judge_by_debate(item, usable_judge, self.llm, run)

    async def start_run(
        self,
        items: Sequence[NamedRewardItem],
        judge: RewardingJudge,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> Run:
        """Start one run for all items, which share its budget. Raises ConfigurationError if the budget is in dollars
        and prices are unknown."""
        # A digest stands for the items' texts among the inputs.
        digest = hashlib.sha256()
        for item in items:
            digest.update(item.item.model_dump_json().encode())
        llm = self.settings.llm
        inputs = normalise_result_inputs(
            {
                "assayer": __version__,
                "items": [len(items), digest.hexdigest()],
                "judge": judge.model_dump(),
                "options": self.settings.debate.model_dump(mode="json"),
                "models": self.llm.models,
                "llm": llm.result_inputs if llm else None,
                "embedder": self.embedder.name,
            }
        )
        reward_settings = self.settings.rewards
        return await run_request.start_run("rw", inputs, self.llm, self.clock, progress, reward_settings)


@asynccontextmanager
async def open_reward_judge(settings: Settings, judge: str | None) -> AsyncIterator[RewardJudge]:
    """Open a reward judge. Before any item is judged, raises InputError if the judge is unknown, NoFallback if it needs
    a language model and none is configured, ConfigurationError, StorageError, LlmRejected or LlmUnavailable."""
    find_usable_judge(settings, judge)
    async with open_models(settings) as models:
        yield RewardJudge(settings, models.llm, models.embedder, models.clock)
