"""`python -m benchmarks.quality.scripted`: an endpoint that compares ideas so that its score is known in advance.

It uses the same protocol as the simulator and is called by the same client, so that the whole path from question to
measure is tested, not only the arithmetic.
"""

import argparse
import asyncio
import json
import re
from pathlib import Path
from typing import Any, Literal, get_args

from assayer.ranking.comparison import PairAnswer, PairAnswerEntry
from simulator.answers import GeneratedAnswer
from simulator.child import ServerProcess
from simulator.protocol import ChatCall
from simulator.random_choices import RandomChoices
from simulator.server import Endpoint
from simulator.serving import add_address_options, serve
from simulator.settings import Settings

Way = Literal["first", "nothing", "truth"]
WAYS: tuple[Way, ...] = get_args(Way)

_RESPECT = re.compile(r"^\[(D\d+)\]", re.MULTILINE)


def answer_question(way: Way, question: str, grades: dict[str, int]) -> str:
    """Answer a ranking question. Only `truth` uses `grades`, which are by the ideas' texts."""
    if way == "nothing":
        return ""
    respects, _, ideas = question.partition("# Idea A")
    first, _, second = ideas.partition("# Idea B")
    better_letter: Literal["A", "B"] = (
        "A" if way == "first" or _find_grade(first, grades) > _find_grade(second, grades) else "B"
    )
    entries = (
        PairAnswerEntry(label=label, in_a="-", in_b="-", reason="-", better=better_letter)
        for label in _RESPECT.findall(respects)
    )
    return PairAnswer(entries=tuple(entries)).model_dump_json()


def _find_grade(shown_text: str, grades: dict[str, int]) -> int:
    return next(grade for text, grade in grades.items() if text in shown_text)


class ScriptedEndpoint(Endpoint):
    def __init__(self, way: Way, grades: dict[str, int]) -> None:
        super().__init__(Settings(latency_mean=0.0))
        self._way, self._grades = way, grades

    def compose(self, call: ChatCall, choices: RandomChoices) -> GeneratedAnswer:
        return GeneratedAnswer(answer_question(self._way, "\n".join(call.question), self._grades))


class ScriptedJudge(ServerProcess):
    """Runs the endpoint within a `with` block; its `base_url` ends in /v1."""

    def __init__(self, way: Way, grades: Path | None = None) -> None:
        flags = ["--way", way, *(["--grades", str(grades)] if grades else [])]
        super().__init__("benchmarks.quality.scripted", 0, flags)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.scripted", description=__doc__)
    add_address_options(parser, 0)
    parser.add_argument("--way", choices=WAYS, required=True)
    parser.add_argument("--grades", type=Path, help="JSON object: the text of each idea and its grade")
    options = parser.parse_args()
    grades: dict[str, Any] = json.loads(options.grades.read_text("utf-8")) if options.grades else {}
    endpoint = ScriptedEndpoint(options.way, grades)
    asyncio.run(serve(endpoint.build_application(), options.host, options.port, "/v1", options.until_stdin_closes))


if __name__ == "__main__":
    main()
