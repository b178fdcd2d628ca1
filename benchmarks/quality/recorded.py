"""Language model whose answers are files written by readers.

Every question is written to a file with its prompt and JSON schema. The reader saves the answer under the same name. As
in the product, an answer with complaints is asked for once more. A run continues as far as there are answers
(`run_while_answered`); with more answers, the next run continues from there.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import Coroutine
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assayer.errors import MalformedAnswer
from assayer.llm import Answer, Task
from assayer.models import CallRecord
from assayer.run.run import Run
from simulator.answers import compose, get_node
from simulator.prompt import parse_prompt
from workers.llm.answer_schema import build_answer_schema

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_QUIET_SECONDS = 3.0
"""Seconds without a new question and with an idle CPU after which all open questions count as waiting for answers."""
_IDLE_SHARE = 0.1
"""Share of a CPU below which this process counts as idle."""


class _Progress:
    """State shared by all labels of one folder."""

    def __init__(self) -> None:
        self.prompt_lengths: dict[str, int] = {}
        self.waiting: set[str] = set()
        self.steps = 0


class RecordedLlm:
    """Answers from `answers/NAME.json`. Questions are written to `prompts/NAME.md`; one without an answer waits."""

    models = ("recorded",)

    def __init__(self, folder: Path, invented: bool = False) -> None:
        """Use a folder. If `invented`, the simulator answers what has no answer, so that every prompt can be seen."""
        self._prompts, self._answers, self._invented = folder / "prompts", folder / "answers", invented
        self._prompts.mkdir(parents=True, exist_ok=True)
        self._answers.mkdir(parents=True, exist_ok=True)
        unread = sorted(file.name for file in self._answers.iterdir() if file.suffix != ".json")
        if unread:
            raise ValueError(f"{self._answers}: answers are read from NAME.json only; rename or remove {unread[0]}.")
        self._progress, self._label = _Progress(), ""

    @property
    def prompt_lengths(self) -> dict[str, int]:
        """Prompt length in characters of every question, by name."""
        return self._progress.prompt_lengths

    @property
    def waiting(self) -> set[str]:
        """Names of the questions without an answer."""
        return self._progress.waiting

    @property
    def steps(self) -> int:
        """Number of questions and answers so far."""
        return self._progress.steps

    def use_label(self, label: str) -> "RecordedLlm":
        """Return a model on the same folder whose names begin with `label`. Identical questions under different labels
        have separate answers."""
        labelled_llm = copy(self)
        labelled_llm._label = f"{label}."
        return labelled_llm

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Return the recorded answer; wait forever if there is none."""
        system, user = task.messages(data)
        name = f"{self._label}{task.name}.{hashlib.sha256(f'{system.content}{user.content}'.encode()).hexdigest()[:8]}"
        self.prompt_lengths[name] = len(system.content) + len(user.content)
        prompt = f"{system.content}\n\n---\n\n{user.content}\n\n---\n\nThe JSON schema of the answer:\n\n"
        prompt += json.dumps(build_answer_schema(task.output).schema, ensure_ascii=False)
        text = await self._get_answer(name, prompt, task, [system.content, user.content])
        value, complaints = _parse_answer(text, task, data)
        if complaints:
            complaint_list = "\n".join(f"- {complaint}" for complaint in complaints)
            prompt += f"\n\n---\n\nYour answer was:\n\n{text}\n\nIt cannot be used:\n{complaint_list}\n\n"
            prompt += "Answer again, in full."
            value, complaints = _parse_answer(
                await self._get_answer(f"{name}.2", prompt, task, [user.content]), task, data
            )
        redacted = 0
        if complaints and value is not None:
            redacted_answer = task.redact(data, value)
            value, redacted = (redacted_answer.value, redacted_answer.sentences) if redacted_answer else (None, 0)
        if value is None:
            raise MalformedAnswer(f"The answer {name} cannot be used: {'; '.join(complaints[:3])}")
        self._progress.steps += 1
        record = CallRecord(
            task=task.name,
            version=task.version,
            model=self.models[0],
            prompt_tokens=self.prompt_lengths[name] // 4,
            completion_tokens=len(text) // 4,
            cost_usd=None,
            latency_seconds=0.0,
            attempts=1,
            redacted=redacted,
        )
        return Answer(value, record)

    async def _get_answer(self, name: str, prompt: str, task: Task[In, Out], messages: list[str]) -> str:
        file = self._answers / f"{name}.json"
        self._progress.steps += 1
        (self._prompts / f"{name}.md").write_text(prompt, "utf-8")
        if not file.is_file():
            if not self._invented:
                self.waiting.add(name)
                await asyncio.Event().wait()
            return compose(
                get_node(build_answer_schema(task.output).schema, strict=True), parse_prompt(messages), 1
            ).text
        text = file.read_text("utf-8").strip()
        return text[text.find("{") : text.rfind("}") + 1]


def _parse_answer(text: str, task: Task[In, Out], data: In) -> tuple[Out | None, list[str]]:
    try:
        value = task.clean(data, task.output.model_validate_json(text))
    except ValidationError as error:
        return None, [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:8]]
    return (value, task.complaints(data, value)) if value is not None else (None, ["Nothing of it is visible text."])


async def run_while_answered(
    work: Coroutine[Any, Any, None], llm: RecordedLlm, quiet_seconds: float = _QUIET_SECONDS
) -> bool:
    """Run `work` until it ends or until only missing answers delay it, and return whether it ended."""
    task = asyncio.create_task(work)
    steps, cpu_seconds = -1, time.process_time()
    while not task.done():
        await asyncio.wait([task], timeout=quiet_seconds)
        is_idle = time.process_time() - cpu_seconds < _IDLE_SHARE * quiet_seconds
        if llm.waiting and is_idle and steps == llm.steps and not task.done():
            task.cancel()
            await asyncio.wait([task])
            return False
        steps, cpu_seconds = llm.steps, time.process_time()
    await task
    return True
