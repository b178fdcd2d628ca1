"""The one door to every language model: cache, budget, concurrency, repair, ledger.

run ── answered before? ───────────────────────────────> ledger ─> answer
 └ converse: ask, read, ask again with the errors
     └ exchange: send, retry what may pass
         └ attempt: budget ─> line (gate ─> endpoint) ──> cache + ledger ─> answer
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from assayer.errors import (
    AnswerRefused,
    BudgetExhausted,
    ConfigurationError,
    LlmError,
    LlmUnavailable,
    MalformedAnswer,
    RunCancelled,
)
from assayer.models import CachedAnswer, Fault, Message
from assayer.ports import Answer, Clock
from assayer.run import Run
from assayer.tasks import Task
from workers.llm.answers import Answers
from workers.llm.conversation import Conversation
from workers.llm.failures import TransientFailure
from workers.llm.ledger import Ledger
from workers.llm.line import EndpointLine, Line
from workers.llm.reading import Reading, one_line, read
from workers.llm.sending import Sender
from workers.llm.settings import LlmSettings
from workers.llm.tally import Tally

__all__ = ["Gateway"]

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


class Gateway:
    """Implements `assayer.ports.Llm`. Belongs to one event loop; close it there."""

    def __init__(self, settings: LlmSettings, answers: Answers, clock: Clock, line: Line | None = None) -> None:
        """Without a `line` it opens one of its own. It closes the one it has."""
        self._settings = settings
        self._clock = clock
        self._ledger = Ledger(answers, clock)
        self._line = EndpointLine(settings, clock) if line is None else line
        self._sender = Sender(settings, self._line, clock)
        self._flights: dict[str, asyncio.Future[CachedAnswer | LlmError | None]] = {}
        """Questions being asked now. None comes out when whoever asked gave up before there was an answer."""

    @property
    def models(self) -> tuple[str, ...]:
        return self._settings.models

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits until everything that was paid for is stored."""
        await self._ledger.aclose()
        await self._line.aclose()

    async def reach(self) -> None:
        """Whether anybody is there, without asking a model anything. Raises LlmUnavailable at once, where a
        question would be sent again for a minute."""
        try:
            await self._line.reach()
        except TransientFailure as failure:
            raise LlmUnavailable(
                f"The LLM endpoint {self._line.address} is down: {failure}.",
                "Check that it runs and that ASSAYER_LLM__BASE_URL is right.",
            ) from None

    async def probe(self) -> str:
        """Asks every model one tiny question and says that they answer. Raises LlmRejected (wrong key, unknown
        model) or LlmUnavailable, in plain words."""
        for model in self.models:
            await self._line.probe(model)
        return f"{' and '.join(self.models)} at {self._line.address} answer{'s' * (len(self.models) == 1)}."

    def require_prices(self) -> None:
        """Raises ConfigurationError unless the cost of every model's answers can be told."""
        for model in self.models:
            if model not in self._settings.prices:
                raise ConfigurationError(
                    f"The budget is in US dollars, but the price of model {model!r} is not known.",
                    "Set it, in dollars per million tokens of input and output: "
                    f"ASSAYER_LLM__PRICES='{{\"{model}\": [2.0, 8.0]}}'; or limit prompt tokens instead.",
                )

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """A question that is being asked already is not asked twice: its answer is waited for."""
        run.check()
        model = self._settings.model_for(task.tier)
        if run.budget.max_usd is not None:
            self.require_prices()
        messages = task.messages(data)
        key = task.key(model, self._parameters(task), messages)
        while (flight := self._flights.get(key)) is not None:
            shared = await asyncio.shield(flight)
            run.check()
            if shared is not None:
                return await self._follow(task, model, run, key, shared)
        return await self._lead(task, data, run, model, messages, key)

    async def _follow(
        self, task: Task[In, Out], model: str, run: Run, key: str, shared: CachedAnswer | LlmError
    ) -> Answer[Out]:
        if isinstance(shared, CachedAnswer):
            return await self._ledger.hit(run, shared, task.output.model_validate_json(shared.value))
        tally = self._tally(task, model)
        tally.faults.extend(shared.faults)
        await self._ledger.failed(run, key, tally, shared)
        raise type(shared)(shared.message, shared.hint, shared.faults)

    async def _lead(
        self, task: Task[In, Out], data: In, run: Run, model: str, messages: Sequence[Message], key: str
    ) -> Answer[Out]:
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        outcome: CachedAnswer | LlmError | None = None
        try:
            found = await self._ledger.find(key)
            value = None if found is None else _revived(found, task, data)
            if found is not None and value is not None:
                outcome = found
                return await self._ledger.hit(run, found, value)
            answer, outcome = await self._pay(task, data, run, model, messages, key, found)
        except LlmError as error:
            outcome = error
            raise
        finally:
            del self._flights[key]
            flight.set_result(outcome)
        return answer

    async def _pay(
        self,
        task: Task[In, Out],
        data: In,
        run: Run,
        model: str,
        messages: Sequence[Message],
        key: str,
        unusable: CachedAnswer | None,
    ) -> tuple[Answer[Out], CachedAnswer]:
        """`unusable` is what the cache holds; the new answer takes its place."""
        talk = Conversation(task, model, messages, self._settings)
        tally = self._tally(task, model)
        try:
            value = await self._converse(task, data, run, talk, tally)
        except (LlmError, RunCancelled, BudgetExhausted) as error:
            await self._ledger.failed(run, key, tally, error)
            raise
        except asyncio.CancelledError:
            self._ledger.abandoned(run, key, tally)
            raise
        record = tally.record(self._clock.monotonic())
        answer = CachedAnswer(key=key, value=value.model_dump_json(by_alias=True), record=record)
        await self._ledger.paid(run, answer, unusable)
        return Answer(value, record), answer

    async def _converse(self, task: Task[In, Out], data: In, run: Run, talk: Conversation, tally: Tally) -> Out:
        for _ in range(self._settings.repair_attempts + 1):
            completion = await self._sender.exchange(run, talk, tally)
            reading = _checked(read(completion, task.output), task, data)
            if reading.fault is not None:
                tally.faults.append(reading.fault)
            if reading.value is not None:
                return reading.value
            talk.repair(completion, reading)
        last = tally.faults[-1]
        error = AnswerRefused if last.kind == "refusal" else MalformedAnswer
        raise error(
            f"Model {talk.question.model!r} gave no valid answer to task {task.name} in "
            f"{self._settings.repair_attempts + 1} tries; the last: {last.detail}.",
            faults=tuple(tally.faults),
        )

    def _tally(self, task: Task[In, Out], model: str) -> Tally:
        return Tally(task.name, task.version, model, self._settings.prices.get(model))

    def _parameters(self, task: Task[In, Out]) -> dict[str, Any]:
        """What determines an answer beside task, model and messages. How JSON was asked for is not part of
        it: every answer is held against the same schema."""
        settings = self._settings
        return {"temperature": settings.temperature, "seed": settings.seed, "max_tokens": task.max_tokens}


def _revived(cached: CachedAnswer, task: Task[In, Out], data: In) -> Out | None:
    """The value as stored, or None when it does not satisfy the task any more."""
    try:
        value = task.output.model_validate_json(cached.value, strict=True)
    except ValidationError:
        return None
    return None if task.check(data, value) else value


def _checked(reading: Reading[Out], task: Task[In, Out], data: In) -> Reading[Out]:
    """What the schema cannot say. A complaint takes the place of an earlier fault: one fault an answer."""
    complaints = () if reading.value is None else tuple(task.check(data, reading.value))
    if not complaints:
        return reading
    fault = Fault(kind="failed_check", detail=one_line("; ".join(complaints)))
    return Reading(None, fault, complaints)
