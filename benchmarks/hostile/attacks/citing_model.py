"""Model that cites works it was not given: the simulator's answers with a foreign citation in every text."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

from aiohttp import web

from benchmarks.hostile.attacks.citation_forms import CitationForm
from simulator.answers import GeneratedAnswer
from simulator.protocol import ChatCall
from simulator.random_choices import RandomChoices
from simulator.server import Endpoint
from simulator.settings import Settings

_FIELDS_WITHOUT_PROSE = frozenset(
    {"label", "quote", "words", "carried", "query", "queries", "literature", "web", "code"}
)
_SENTENCES = (
    "{text} This is what {form} shows.",
    "{text} It holds {form}.",
    "{form}: {text}",
    "As {form} has it, {text}",
)


class CitingModel(Endpoint):
    def __init__(self, forms: Sequence[CitationForm], is_stubborn: bool) -> None:
        """Create a model. Without forms, it answers like the simulator; a stubborn model repeats foreign citations when
        asked again."""
        super().__init__(Settings(latency_mean=0.0))
        self._forms = cycle(forms) if forms else None
        self._sentences = cycle(_SENTENCES)
        self._stubborn = is_stubborn
        self.written_forms: list[CitationForm] = []
        """Forms written, in order, one for each text with a citation."""

    def compose(self, call: ChatCall, choices: RandomChoices) -> GeneratedAnswer:
        answer = super().compose(call, choices)
        is_asked_again = any(role == "assistant" for role, _ in call.messages)
        if self._forms is None or answer.content is None or (is_asked_again and not self._stubborn):
            return answer
        return answer._replace(
            content=json.dumps(self._add_citations(json.loads(answer.content), ""), ensure_ascii=False)
        )

    def _add_citations(self, value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: self._add_citations(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._add_citations(item, name) for item in value]
        if isinstance(value, str) and " " in value and name not in _FIELDS_WITHOUT_PROSE and self._forms is not None:
            self.written_forms.append(next(self._forms))
            return next(self._sentences).format(text=value[:250], form=self.written_forms[-1].text)
        return value


@asynccontextmanager
async def serve_model(model: Endpoint) -> AsyncIterator[str]:
    """Serve the model on loopback and yield its base URL, which ends in /v1."""
    runner = web.AppRunner(model.build_application(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await asyncio.shield(runner.cleanup())
