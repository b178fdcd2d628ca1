"""`python -m benchmarks.quality.rewards.scripted_seats`: an endpoint that sits in debates and errs at known rates.

It speaks the same protocol as the simulator and is asked by the same client. Each noise is a model of its own, by its
name. What it answers depends on the item that the prompt shows, the seat and the round alone.
"""

import argparse
import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from assayer.methods.debate.composition import Seat
from assayer.methods.debate.rounds import Ballot
from assayer.models import Frozen
from assayer.models.reward import DebateRole, RewardItem
from assayer.text.sanitise import clean_text
from benchmarks.quality.rewards.noise import SeatNoise, ballot_of
from benchmarks.simulator.answers import Made
from benchmarks.simulator.child import ServerProcess
from benchmarks.simulator.dice import Throw
from benchmarks.simulator.protocol import ChatCall
from benchmarks.simulator.server import Endpoint
from benchmarks.simulator.serving import add_address, serve
from benchmarks.simulator.settings import Settings

__all__ = ["ScriptedSeatsServer", "SeatPlan", "asked_of", "item_key", "seat_answer"]

_ROLES: Mapping[str, DebateRole] = {role: role for role in get_args(DebateRole)}
_FENCED = re.compile(
    r"^<(question|abstract|idea|turn|quote) ([0-9a-f]{6,64})>\n(.*?)\n</\1 \2>$", re.DOTALL | re.MULTILINE
)
_SEAT = re.compile(rf"^# Your seat: (?:the )?({'|'.join(_ROLES)})(?: (\d))?$", re.MULTILINE)
_ROUND = re.compile(r"^# Task: .{0,80}\bround (\d) of \d$", re.MULTILINE)


class SeatPlan(Frozen):
    """What the endpoint knows."""

    noises: tuple[SeatNoise, ...]
    truths: Mapping[str, bool]
    """Whether an item matches, by its key."""


class AskedSeat(Frozen):
    """Whose answer a prompt asks for."""

    key: str
    seat: Seat
    number: int
    """The round."""


def item_key(item: RewardItem) -> str:
    return _key(clean_text(item.idea), clean_text(item.abstract))


def _key(idea: str, abstract: str) -> str:
    return hashlib.sha256(f"{idea.strip()}\0{abstract.strip()}".encode()).hexdigest()[:24]


def asked_of(question: str) -> AskedSeat | None:
    """None for a prompt that is no debate's. What the item's texts claim about seats counts for nothing: the texts are
    fenced, and what stands outside of the fences is read."""
    shown: dict[str, str] = {}
    for kind, _, text in _FENCED.findall(question):
        shown.setdefault(kind, text)
    outside = _FENCED.sub("", question)
    seat, number = _SEAT.search(outside), _ROUND.search(outside)
    if seat is None or number is None:
        return None
    key = _key(shown.get("idea", ""), shown.get("abstract", ""))
    return AskedSeat(key=key, seat=Seat(_ROLES[seat[1]], int(seat[2] or 1)), number=int(number[1]))


def seat_answer(role: DebateRole, ballot: Ballot) -> Mapping[str, Any]:
    """In the shape that the role is asked for; its quotes stand nowhere."""
    if role == "moderator":
        return {"proposes": "-", "guidance": "-", "decision": ballot}
    pair = {"abstract_words": "-", "idea_words": "", "comparison": "-"}
    ends = {"argument": "-", "vote": ballot}
    match role:
        case "analyst":
            return {"elements": [pair | {"element": "-", "met": "yes" if ballot == "match" else "no"}], **ends}
        case "critic":
            return {"objections": [], **ends}
        case "evaluator":
            return {"summary": "-", "evidence": [pair], **ends}


class SeatsEndpoint(Endpoint):
    def __init__(self, plan: SeatPlan) -> None:
        self._noises = {one.name: one for one in plan.noises}
        self._truths = plan.truths
        super().__init__(Settings(latency_mean=0.0, models=tuple(self._noises)))

    def compose(self, call: ChatCall, drawn: Throw) -> Made:
        """Nothing where it is asked anything but to take a seat."""
        asked = asked_of("\n".join(call.question))
        if asked is None:
            return Made("")
        ballot = ballot_of(self._noises[call.model], asked.key, self._truths[asked.key], asked.seat, asked.number)
        return Made(json.dumps(seat_answer(asked.seat.role, ballot)))


class ScriptedSeatsServer(ServerProcess):
    """Runs from `with` to its end; its `base_url` ends in /v1. Writes its plan to `folder`."""

    def __init__(self, noises: Sequence[SeatNoise], truths: Mapping[str, bool], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "seats.json"
        path.write_text(SeatPlan(noises=tuple(noises), truths=truths).model_dump_json(), "utf-8")
        super().__init__("benchmarks.quality.rewards.scripted_seats", 0, ["--plan", str(path)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.rewards.scripted_seats", description=__doc__)
    add_address(parser, 0)
    parser.add_argument("--plan", type=Path, required=True, help="JSON: the seats' noises, and which items match")
    given = parser.parse_args()
    endpoint = SeatsEndpoint(SeatPlan.model_validate_json(given.plan.read_text("utf-8")))
    asyncio.run(serve(endpoint.application(), given.host, given.port, "/v1", given.until_stdin_closes))


if __name__ == "__main__":
    main()
