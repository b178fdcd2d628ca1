"""The requests that evaluations of the ScholarIdeas make, in the order in which they are made."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assayer.models import Idea
from assayer.ports import ProgressEvent
from assayer.run.structured_concurrency import Failed, each
from benchmarks.overnight.prefixes import prompt_of
from benchmarks.simulator.process import Simulator
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.engine import open_engine
from cluster.settings import Settings
from orchestrator.store import PgAnswerCache
from workers.llm.chat_completion import ChatRequest, ChatResult, Requester, initial_dialect
from workers.llm.client import EndpointTransport
from workers.llm.gateway import LlmGateway
from workers.llm.settings import LlmSettings

__all__ = ["asked_prompts"]


class _Silent:
    def report(self, event: ProgressEvent) -> None:
        pass


class _RecordingTransport(EndpointTransport):
    """Writes down what is asked."""

    def __init__(self, settings: LlmSettings) -> None:
        super().__init__(settings, SystemClock())
        self.prompts: list[str] = []

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        self.prompts.append(prompt_of(request.body(initial_dialect("auto"))))
        return await super().complete(request, requester)


async def asked_prompts(ideas: Sequence[Idea], method: str, corpus: Path, home: Path) -> list[str]:
    """Of evaluations side by side, with the simulator as the language model. Failed ones raise AssayerError."""
    with Simulator(latency_mean=0.2) as endpoint:
        llm = LlmSettings(base_url=endpoint.base_url, model="simulated")
        settings = Settings.model_validate({"home": home, "corpus": {"path": corpus}, "llm": llm})
        async with open_database(settings) as database, open_engine(settings, (method,), database) as opened:
            transport = _RecordingTransport(llm)
            async with LlmGateway(llm, PgAnswerCache(database), SystemClock(), transport) as gateway:
                engine = replace(opened, backends=replace(opened.backends, llm=gateway))
                silent = _Silent()
                found = await each(ideas, lambda idea: engine.evaluate(idea, method, idea.cutoff, silent))
                for one in found:
                    if isinstance(one, Failed):
                        raise one.error
        return transport.prompts
