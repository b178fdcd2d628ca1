"""Names and claims of a night's papers, asked of a language model within a budget, each kept as soon as it is known."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assayer.content_reading.reading import standing_contents
from assayer.content_reading.schemas import ContentQuestion
from assayer.content_reading.task import CONTENTS
from assayer.errors import BudgetExhausted
from assayer.llm import Llm
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, each
from assayer.text.sanitise import sanitise
from index.records.paper_record import PaperRecord
from index.segments.content_readings import ContentReading, ContentReadings, append_reading, text_key

__all__ = ["ContentReader"]

_AT_ONCE = 64
_READ_CHARS = 6_000
"""Of an abstract; longer ones are whole papers by mistake, and left to patterns."""


@dataclass
class ContentReader:
    """Of one night. A paper whose answer is on disk is not asked about again, and what it cost counts in the budget."""

    llm: Llm
    run: Run
    """With the night's budget."""
    path: Path
    """Where readings are kept."""
    read: int = field(default=0, init=False)
    """Papers, those of an interrupted attempt included."""
    left: dict[str, int] = field(default_factory=dict, init=False)
    """Papers left to patterns, by reason."""

    @property
    def usd(self) -> float:
        """Of the night, an interrupted attempt included."""
        return self.run.budget.earlier_usd + self.run.budget.spent_usd

    async def __call__(self, records: Sequence[PaperRecord]) -> None:
        """Before these new or changed papers are written. What cannot be read is counted; nothing keeps the night from
        going on but what makes asking pointless, as a wrong key."""
        known = await asyncio.to_thread(ContentReadings.open, self.path)
        readable = [one for one in records if self._is_readable(one)]
        earlier = [found for one in readable if (found := known.of(one.title, one.abstract))]
        self.run.budget.earlier_usd += sum(one.usd or 0.0 for one in earlier)
        self.read += len(earlier)
        unread = [one for one in readable if known.of(one.title, one.abstract) is None]
        for start in range(0, len(unread), _AT_ONCE):
            some = unread[start : start + _AT_ONCE]
            failures = [one for one in await each(some, self._ask) if isinstance(one, Failed)]
            self.read += len(some) - len(failures)
            for one in failures:
                self._leave(one.error.reason)
            if any(isinstance(one.error, BudgetExhausted) for one in failures):
                self._leave("the budget was spent", len(unread) - start - len(some))
                return

    def _is_readable(self, record: PaperRecord) -> bool:
        if len(record.abstract) > _READ_CHARS:
            self._leave("the abstract is too long")
        elif sanitise(f"{record.title}\n{record.abstract}")[1]:
            self._leave("the text holds hidden signs or orders to whoever reads it")
        else:
            return True
        return False

    def _leave(self, why: str, papers: int = 1) -> None:
        if papers:
            self.left[why] = self.left.get(why, 0) + papers

    async def _ask(self, record: PaperRecord) -> None:
        question = ContentQuestion(title=record.title, abstract=record.abstract)
        answer = await self.llm.run(CONTENTS, question, self.run)
        found = standing_contents(question, answer.value)
        reader = f"{answer.record.model}, {CONTENTS.name} v{CONTENTS.version}"
        reading = ContentReading.of(text_key(record.title, record.abstract), reader, answer.record.cost_usd, found)
        append_reading(self.path, reading)
