"""The judges of rewards behind one name each: debates by composition, one's own, and the judge without a model."""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from typing import TypeAlias

from assayer import __version__
from assayer.errors import NoFallback
from assayer.llm import Llm
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.methods.debate.options import VIEWPOINTS, DebateOptions, ViewpointJudge
from assayer.methods.debate.viewpoint_judge import judge_by_viewpoints
from assayer.models.reward import Reward, RewardItem
from assayer.ports import Clock, Embedder, Progress
from assayer.run.run import Run
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.language_model import open_llm
from cluster.run_request import LOCAL_REQUEST, ResultInputs, RunRequest, result_inputs, run_id
from cluster.settings import Settings
from orchestrator.jobs.requests import NamedRewardItem
from workers.embedding.local_embedder import local_embedder
from workers.llm.fallback_llm import FallbackLlm
from workers.llm.gateway import LlmGateway

__all__ = ["RewardJudge", "RewardingJudge", "known_judges", "open_reward_judge"]

RewardingJudge: TypeAlias = Composition | ViewpointJudge


def known_judges(options: DebateOptions) -> Mapping[str, str]:
    """What each judge is, in one line, by name. Raises InputError for a file of compositions that cannot be used."""
    debates = {name: _described(one) for name, one in options.known_compositions().items()}
    return {**debates, VIEWPOINTS: "No language model: how near the idea's words and viewpoints are to the abstract's."}


def _described(composition: Composition) -> str:
    seats = ", ".join(f"{len(group)} {group[0].role}{'s' * (len(group) > 1)}" for group in composition.groups)
    return f"A debate of {seats}, in at most {composition.rounds} rounds."


@dataclass(frozen=True)
class RewardJudge:
    """Judges one item after another, or many at once."""

    settings: Settings
    llm: Llm
    embedder: Embedder
    clock: Clock

    def chosen(self, judge: str | RewardingJudge | None) -> RewardingJudge:
        """None: what the settings say. Raises InputError for a name that is none."""
        if isinstance(judge, Composition | ViewpointJudge):
            return judge
        if (judge or self.settings.debate.composition) == VIEWPOINTS:
            return self.settings.debate.viewpoints
        return self.settings.debate.composition_called(judge)

    def require_model(self, judge: str | RewardingJudge | None) -> None:
        """Raises InputError for a judge that is none, NoFallback where it needs a language model and there is none."""
        if isinstance(self.chosen(judge), Composition) and self.settings.llm is None:
            raise NoFallback(
                "Rewards by debate need a language model, and none is configured.",
                "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__JUDGE_MODEL where another model "
                f"is to judge; or ask for the judge {VIEWPOINTS!r}, which does without.",
            )

    async def reward(self, item: RewardItem, judge: str | RewardingJudge | None, run: Run) -> Reward:
        """Absent, with the reason, where the judge failed. Raises InputError and NoFallback for a judge that cannot be
        asked at all."""
        self.require_model(judge)
        chosen = self.chosen(judge)
        if isinstance(chosen, ViewpointJudge):
            return await judge_by_viewpoints(item, self.embedder, chosen)
        return await judge_by_debate(item, chosen, self.llm, run)

    def new_run(
        self,
        items: Sequence[NamedRewardItem],
        judge: RewardingJudge,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> Run:
        """One for all items, with the budget that they share. Raises ConfigurationError where it is in dollars and
        prices are not known."""
        budget = run_request.budget(self.settings.rewards)
        if budget.max_usd is not None and isinstance(self.llm, LlmGateway):
            self.llm.require_prices()
        return Run(
            id=run_id("rw", self.result_inputs(items, judge), run_request.job),
            cutoff=None,
            clock=self.clock,
            progress=progress,
            budget=budget,
            answers_of=run_request.answers_of,
        )

    def result_inputs(self, items: Sequence[NamedRewardItem], judge: RewardingJudge) -> ResultInputs:
        """Everything that determines the rewards; the words of the items by their digest."""
        words = hashlib.sha256()
        for named in items:
            words.update(named.item.model_dump_json().encode())
        llm = self.settings.llm
        return result_inputs(
            {
                "assayer": __version__,
                "items": [len(items), words.hexdigest()],
                "judge": judge.model_dump(),
                "options": self.settings.debate.model_dump(mode="json"),
                "models": self.llm.models,
                "llm": llm.result_inputs if llm else None,
                "embedder": self.embedder.name,
            }
        )


@asynccontextmanager
async def open_reward_judge(settings: Settings, judge: str | None) -> AsyncIterator[RewardJudge]:
    """Raises InputError for a judge that is none, NoFallback for one that lacks its model, ConfigurationError,
    StorageError, LlmRejected and LlmUnavailable before anything is asked."""
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(local_embedder(settings.embedder)))
        clock = SystemClock()
        RewardJudge(settings, FallbackLlm(embedder), embedder, clock).require_model(judge)
        database = await stack.enter_async_context(open_database(settings))
        llm = await open_llm(settings, database, embedder, stack)
        yield RewardJudge(settings, llm, embedder, clock)
