"""A reward by debate."""

from assayer.llm import Llm
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.guards import stopped_by
from assayer.models import Absent
from assayer.models.reward import Reward, RewardItem
from assayer.run.run import Run

__all__ = ["judge_by_debate"]


async def judge_by_debate(item: RewardItem, composition: Composition, llm: Llm, run: Run) -> Reward:
    """Never raises for a judge that failed: no language model, an endpoint that is down, a spent budget and lost
    answers all give a value that is absent, with the reason."""
    stop = stopped_by(item)
    if stop is not None:
        return Reward(value=0, reason=stop.reason, judge=composition.name, guard=stop.name, leakage=stop.leakage)
    reason = "The debate is not held yet."
    return Reward(value=Absent(reason=reason), reason=reason, judge=composition.name)
