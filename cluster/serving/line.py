"""The LLM line as a pool: the one process through which all evaluators ask the endpoint."""

from assayer.errors import ConfigurationError
from assayer.logged import logged
from assayer.models import Fault
from cluster.clock import SystemClock
from cluster.serving.calling import Caller, Full, Gone
from cluster.serving.replica import Replica
from cluster.serving.where import Where
from workers.llm import LlmSettings
from workers.llm.failures import Took, TransientFailure
from workers.llm.line import EndpointLine
from workers.llm.memory import RememberingLine
from workers.llm.question import Asker, Question, Said

__all__ = ["LineReplica", "ServedLine", "share"]


class LineReplica(Replica):
    def __init__(self, where: Where) -> None:
        settings = self.begin(where)
        if settings.llm is None:
            raise ConfigurationError("There is no LLM to speak to.", "Set ASSAYER_LLM__MODEL.")
        clock = SystemClock()
        self._line = RememberingLine(EndpointLine(share(settings.llm, settings.serving.llm.replicas), clock), clock)

    async def ask(self, question: Question, asker: Asker) -> Said:
        with logged(run=asker.run):
            return await self._line.ask(question, asker)

    async def reach(self) -> None:
        await self._line.reach()

    async def probe(self, model: str) -> None:
        await self._line.probe(model)

    async def __del__(self) -> None:
        await self._line.aclose()


class ServedLine:
    """Implements workers.llm.Line."""

    def __init__(self, caller: Caller[LineReplica], address: str) -> None:
        self._caller = caller
        self.address = address

    async def ask(self, question: Question, asker: Asker) -> Said:
        """Not tried again here: whoever asks has a policy for failures that pass."""
        try:
            return await self._caller.once(LineReplica.ask, question, asker)
        except Full as error:
            raise TransientFailure(Fault(kind="rate_limited", detail=str(error)), overloaded=True) from None
        except Gone as error:
            failure = TransientFailure(Fault(kind="connection", detail=str(error)))
            failure.took = Took(1)  # it may have been sent, and that must not be hidden
            raise failure from None

    async def reach(self) -> None:
        await self._caller.ask(LineReplica.reach)

    async def probe(self, model: str) -> None:
        await self._caller.ask(LineReplica.probe, model)

    async def aclose(self) -> None:
        """The pool belongs to all."""


def share(settings: LlmSettings, replicas: int) -> LlmSettings:
    """Of the endpoint's limit for one of so many processes: one key is one limit, whoever asks."""
    limits = settings.concurrency
    parts = {"start": max(1, limits.start // replicas), "max": max(1, limits.max // replicas)}
    return settings.model_copy(update={"concurrency": limits.model_copy(update=parts)})
