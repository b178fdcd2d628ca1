"""Seats that answer from a script, for tests of debates."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from assayer.errors import AssayerError
from assayer.llm import Answer, Task
from assayer.methods.debate.rounds import Ballot
from assayer.methods.debate.schemas import DebateQuestion
from assayer.models.reward import RewardItem
from assayer.run.run import Run
from tests.unit.twins import call_record

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

ITEM = RewardItem(
    question="How can a language model be kept from forgetting earlier tasks when it is tuned on new ones?",
    idea="After each task we estimate which weights its loss depends on by their Fisher information, and while tuning "
    "on the next task a quadratic penalty holds every weight to its old value in proportion to that estimate.",
    abstract="Networks forget old tasks when they learn new ones. We slow down learning on the weights that matter for "
    "earlier tasks: a quadratic penalty, weighted by the diagonal of the Fisher information matrix, pulls parameters "
    "back to their former values. Experiments cover permuted digits and a suite of games.",
)

_PAIR = {
    "abstract_words": "a quadratic penalty, weighted by the diagonal of the Fisher information matrix",
    "idea_words": "words that nobody has written in this idea",
}


def script_answer(role: str, ballot: Ballot) -> dict[str, Any]:
    if role == "moderator":
        return {"proposes": "A penalty on weights.", "guidance": "Compare the penalties.", "decision": ballot}
    argument_and_vote = {"argument": f"So I say {ballot}.", "vote": ballot}
    match role:
        case "analyst":
            element = {"element": "A Fisher-weighted penalty.", "comparison": "The same penalty.", "met": "yes"}
            return {"elements": [_PAIR | element], **argument_and_vote}
        case "critic":
            return {"objections": [_PAIR | {"objection": "Other weights.", "touches": "core"}], **argument_and_vote}
        case _:
            return {
                "summary": "They differ.",
                "evidence": [_PAIR | {"comparison": "The same penalty."}],
                **argument_and_vote,
            }


class ScriptedSeats:
    """Scripted answers of each seat, a letter per round: `{("analyst", 2): "mn"}` votes match, then no match.

    A moderator continues with `g` and halts with `h`. Seats without a script vote for a match."""

    models = ("judge",)

    def __init__(
        self,
        script: Mapping[tuple[str, int], str] | None = None,
        failing: Mapping[tuple[str, int, int], AssayerError] | None = None,
    ) -> None:
        self._script = script or {}
        self._failing = failing or {}
        self.requests: list[tuple[Task[Any, Any], DebateQuestion]] = []

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        assert isinstance(data, DebateQuestion)
        self.requests.append((task, data))
        role = task.name.removeprefix("debate.")
        error = self._failing.get((role, data.seat, data.round))
        if error is not None:
            raise error
        ballot_name = self._script.get((role, data.seat), "gg" if role == "moderator" else "mmmmm")[data.round - 1]
        ballots: dict[str, Ballot] = {"m": "match", "n": "no_match", "g": "go_on", "h": "halt"}
        answer = task.output.model_validate(script_answer(role, ballots[ballot_name]))
        return Answer(answer, call_record(task, "judge"))
