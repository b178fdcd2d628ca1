"""LLM tasks for the four debate roles."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from assayer.llm import Task
from assayer.methods.debate.composition import Composition, Seat
from assayer.methods.debate.schemas import AnalystAnswer, CriticAnswer, DebateQuestion, EvaluatorAnswer, ModeratorAnswer
from assayer.prompts import Prompts
from assayer_client.rewards import DebateRole

_PROMPTS = Prompts("assayer.methods.debate")

DEBATE_TASKS: Mapping[DebateRole, Task[DebateQuestion, Any]] = MappingProxyType(
    {
        "moderator": Task[DebateQuestion, ModeratorAnswer](
            "debate.moderator", _PROMPTS, "moderator.v1.md", ModeratorAnswer, tier="judge", max_tokens=800
        ),
        "analyst": Task[DebateQuestion, AnalystAnswer](
            "debate.analyst", _PROMPTS, "analyst.v1.md", AnalystAnswer, tier="judge", max_tokens=1_500
        ),
        "critic": Task[DebateQuestion, CriticAnswer](
            "debate.critic", _PROMPTS, "critic.v1.md", CriticAnswer, tier="judge", max_tokens=1_500
        ),
        "evaluator": Task[DebateQuestion, EvaluatorAnswer](
            "debate.evaluator", _PROMPTS, "evaluator.v1.md", EvaluatorAnswer, tier="judge", max_tokens=1_500
        ),
    }
)


def build_seat_task(composition: Composition, seat: Seat) -> Task[DebateQuestion, Any]:
    """Return a seat's task. Seats with the same role get the same question but are sampled separately."""
    task = DEBATE_TASKS[seat.role]
    peers = sum(item.role == seat.role for group in composition.groups for item in group)
    if peers == 1:
        return task
    return replace(task, sample=seat.number - 1, temperature=composition.temperature)
