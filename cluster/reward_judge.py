"""The judges of rewards behind one name each: the compositions of the debate, and one's own."""

from collections.abc import Mapping
from dataclasses import dataclass

from assayer.errors import NoFallback
from assayer.llm import Llm
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.methods.debate.options import DebateOptions
from assayer.models.reward import Reward, RewardItem
from assayer.ports import Embedder
from assayer.run.run import Run
from cluster.settings import Settings

__all__ = ["RewardJudge", "known_judges"]


def known_judges(options: DebateOptions) -> Mapping[str, str]:
    """What each judge is, in one line, by name. Raises InputError for a file of compositions that cannot be used."""
    return {name: _described(one) for name, one in options.known_compositions().items()}


def _described(composition: Composition) -> str:
    seats = ", ".join(f"{len(group)} {group[0].role}{'s' * (len(group) > 1)}" for group in composition.groups)
    return f"A debate of {seats}, in at most {composition.rounds} rounds."


@dataclass(frozen=True)
class RewardJudge:
    """Judges one item after another, or many at once."""

    settings: Settings
    llm: Llm
    embedder: Embedder

    def chosen(self, judge: str | Composition | None) -> Composition:
        """None: what the settings say. Raises InputError for a name that is none."""
        if isinstance(judge, Composition):
            return judge
        return self.settings.debate.composition_called(judge)

    def require_model(self, judge: str | Composition | None) -> None:
        """Raises NoFallback where the judge needs a language model and there is none."""
        if self.chosen(judge) and self.settings.llm is None:
            raise NoFallback(
                "Rewards by debate need a language model, and none is configured.",
                "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__JUDGE_MODEL where another model "
                "is to judge.",
            )

    async def reward(self, item: RewardItem, judge: str | Composition | None, run: Run) -> Reward:
        """Absent, with the reason, where the judge failed. Raises InputError and NoFallback for a judge that cannot be
        asked at all."""
        self.require_model(judge)
        return await judge_by_debate(item, self.chosen(judge), self.llm, run)
