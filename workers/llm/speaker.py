"""Asks each model in the form it understands, and remembers what it learnt from refusals."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workers.llm.completion import Completion
from workers.llm.dialect import Dialect, first_dialect
from workers.llm.failures import PermanentFailure
from workers.llm.settings import StructuredSetting

if TYPE_CHECKING:
    from workers.llm.endpoint import Endpoint

__all__ = ["Speaker"]

_LOG = logging.getLogger(__name__)


class Speaker:
    def __init__(self, endpoint: "Endpoint", structured: StructuredSetting) -> None:
        self._endpoint = endpoint
        self._first = first_dialect(structured)
        self._dialects: dict[str, Dialect] = {}
        self._answering: set[str] = set()
        """Models that have answered."""

    @property
    def address(self) -> str:
        return self._endpoint.address

    async def ask(
        self,
        model: str,
        body: Callable[[Dialect], dict[str, Any]],
        sending: Callable[[], None],
        deadline_seconds: float | None = None,
    ) -> Completion:
        """Calls `sending` before every request. Raises TransientFailure or PermanentFailure."""
        while True:
            dialect = self._dialects.get(model, self._first)
            sending()
            try:
                completion = await self._endpoint.send(body(dialect), deadline_seconds)
            except PermanentFailure as failure:
                other = dialect.adapted(failure)
                if other is None:
                    raise (failure.of_question() if model in self._answering else failure) from None
                # Other calls in flight may have learnt the same, or more, in the meantime.
                if self._dialects.get(model, self._first) == dialect:
                    self._dialects[model] = other
                    _LOG.info("model %s: %s; from now on asked as %s", model, failure, other)
            else:
                self._answering.add(model)
                return completion

    async def aclose(self) -> None:
        await self._endpoint.aclose()
