"""Rankings in one process: settings in, a judge with its cache, an order out. No Ray, no server."""

import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field, replace

from assayer import __version__
from assayer.budget import Budget
from assayer.errors import ConfigurationError
from assayer.methods.grapheval.records import KnownIdea
from assayer.models import EvaluationId, Idea, IdeaId
from assayer.models.ranking import Comparison
from assayer.ports import Embedder, Llm, Progress
from assayer.ranking.pipeline import Ranked, rank
from assayer.ranking.tasks import COMPARISON
from assayer.ranking.triage import triage, with_baselines
from assayer.run import Run
from cluster.engine import SystemClock, open_database, open_llm
from cluster.settings import Settings
from workers.embedding import SentenceTransformerEmbedder
from workers.llm import Gateway

__all__ = ["Ranker", "Wanted", "open_ranker", "refuse_without_judge"]


@dataclass(frozen=True)
class Wanted:
    """What is to be ranked, and from what."""

    ideas: Sequence[Idea]
    cut: int | None = None
    scores: Mapping[IdeaId, float] = field(default_factory=dict)
    """Point scores to start from."""
    known: Sequence[Comparison] = ()
    labelled: Sequence[KnownIdea] = ()
    outcomes: tuple[str, ...] = ()
    """Of the labelled ideas, from worst to best."""


def refuse_without_judge(settings: Settings) -> None:
    """Raises ConfigurationError: no measure of overlap stands in for a preference."""
    if settings.llm is None:
        raise ConfigurationError(
            "A ranking needs a language model that compares the ideas, and none is configured.",
            "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__API_KEY if the endpoint asks "
            "for a key.",
        )


@dataclass(frozen=True)
class Ranker:
    """Ranks one group of ideas after another, or several at once."""

    settings: Settings
    llm: Llm
    embedder: Embedder
    clock: SystemClock

    async def rank(self, wanted: Wanted, progress: Progress) -> Ranked:
        """Raises InputError for ideas that cannot be ranked, LlmRejected, LlmUnavailable and StorageError; asked
        again, it goes on from what the judge has answered."""
        limits = self.settings.ranking
        run = Run(
            id=_id(self.settings, wanted, self.llm),
            cutoff=None,
            clock=self.clock,
            progress=progress,
            budget=Budget(max_usd=limits.max_usd, max_prompt_tokens=limits.max_prompt_tokens),
        )
        said = None
        if wanted.labelled:
            said = await triage(wanted.ideas, wanted.labelled, wanted.outcomes, self.embedder)
        ranked = await rank(wanted.ideas, self.llm, run, limits, wanted.cut, wanted.scores, wanted.known)
        return ranked if said is None else replace(ranked, ranking=with_baselines(ranked.ranking, said))


@asynccontextmanager
async def open_ranker(settings: Settings) -> AsyncIterator[Ranker]:
    """Raises ConfigurationError, StorageError, LlmRejected and LlmUnavailable before anything is asked."""
    refuse_without_judge(settings)
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(SentenceTransformerEmbedder(settings.embedder)))
        database = await stack.enter_async_context(open_database(settings))
        llm = await open_llm(settings, database, embedder, stack)
        if settings.ranking.max_usd is not None and isinstance(llm, Gateway):
            llm.require_prices()
        yield Ranker(settings, llm, embedder, SystemClock())


def _id(settings: Settings, wanted: Wanted, llm: Llm) -> EvaluationId:
    """The same request is the same ranking."""
    request = {
        "assayer": __version__,
        "ideas": [idea.id for idea in wanted.ideas],
        "cut": wanted.cut,
        "options": settings.ranking.model_dump(),
        "scores": dict(wanted.scores),
        "known": [one.model_dump() for one in wanted.known],
        "labelled": [one.digest for one in wanted.labelled],
        "outcomes": wanted.outcomes,
        "models": llm.models,
        "llm": settings.llm.model_dump(include={"temperature", "seed", "max_answer_tokens"}) if settings.llm else None,
        "prompt": COMPARISON.version,
    }
    digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    return EvaluationId("rk_" + digest[:20])
