"""The judges of rewards behind one name each: the compositions of the debate, and the one without a language model."""

from collections.abc import Mapping
from dataclasses import dataclass

from assayer.methods.debate.composition import COMPOSITIONS, composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.methods.debate.viewpoint_judge import judge_by_viewpoints

from assayer.errors import InputError, NoFallback
from assayer.llm import Llm
from assayer.models.reward import Reward, RewardItem
from assayer.ports import Embedder
from assayer.run.run import Run
from cluster.settings import Settings

__all__ = ["VIEWPOINTS", "RewardJudge", "known_judges"]

VIEWPOINTS = "viewpoints"
"""By name only: a judge without a model is another judge, and never stands in for one that lacks its model."""


def known_judges() -> Mapping[str, str]:
    """What each judge is, in one line, by name."""
    return {
        **{name: " ".join(one.about.split()) for name, one in COMPOSITIONS.items()},
        VIEWPOINTS: "No language model: the share of the abstract's method viewpoints that the idea meets.",
    }


@dataclass(frozen=True)
class RewardJudge:
    """Judges one item after another, or many at once."""

    settings: Settings
    llm: Llm
    embedder: Embedder

    def name_of(self, judge: str | None) -> str:
        """None: what the settings say. Raises InputError for a name that is none."""
        name = judge or self.settings.debate.composition
        if name not in known_judges():
            raise InputError(f"There is no judge {name!r}.", f"Judges: {', '.join(known_judges())}.")
        return name

    def require_model(self, judge: str | None) -> None:
        """Raises NoFallback where the judge needs a language model and there is none."""
        if self.name_of(judge) != VIEWPOINTS and self.settings.llm is None:
            raise NoFallback(
                "Rewards by debate need a language model, and none is configured.",
                "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL (and ASSAYER_LLM__JUDGE_MODEL for another judge), "
                f"or ask for the judge {VIEWPOINTS!r} by name.",
            )

    async def reward(self, item: RewardItem, judge: str | None, run: Run) -> Reward:
        """Absent, with the reason, where the judge failed. Raises InputError and NoFallback for a judge that cannot be
        asked at all."""
        name = self.name_of(judge)
        if name == VIEWPOINTS:
            return await judge_by_viewpoints(item, self.embedder, self.settings.debate)
        self.require_model(name)
        return await judge_by_debate(item, composition(name), self.llm, run)
