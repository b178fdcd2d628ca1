"""Extract names and claims from new papers with a language model each night, within a budget, and store each result
immediately."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assayer.content_reading.task import CONTENTS, ContentQuestion, locate_contents
from assayer.errors import BudgetExhausted
from assayer.llm import Llm
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.run import Run
from assayer.text.sanitise import sanitise
from index.records.paper_record import PaperRecord
from index.segments.content_readings import ContentReading, ContentReadings, append_reading, compute_text_key

_AT_ONCE = 64
_READ_CHARS = 6_000
"""Maximum number of characters in an abstract that the model reads. Longer abstracts are whole papers entered by
mistake, and are left to pattern matching."""


@dataclass
class ContentReader:
    """Reads the contents of papers during a nightly run. A paper whose model response is already on disk is not sent
    again, but its cost counts toward the budget."""

    llm: Llm
    run: Run
    """Run with the budget of the nightly run."""
    path: Path
    """File that stores the readings."""
    read: int = field(default=0, init=False)
    """Number of papers read, including those of an interrupted attempt."""
    left: dict[str, int] = field(default_factory=dict, init=False)
    """Number of papers left to pattern matching, by reason."""

    @property
    def usd(self) -> float:
        """Cost of the nightly run in US dollars, including an interrupted attempt."""
        return self.run.budget.earlier_usd + self.run.budget.spent_usd

    async def __call__(self, records: Sequence[PaperRecord]) -> None:
        """Extract the contents of new or changed papers before they are written. Papers that cannot be read are only
        counted. Errors that make further requests pointless, such as an invalid key, are raised."""
        readings = await asyncio.to_thread(ContentReadings.open, self.path)
        readable_records = [record for record in records if self._is_readable(record)]
        earlier_readings = [
            reading for record in readable_records if (reading := readings.find(record.title, record.abstract))
        ]
        self.run.budget.earlier_usd += sum(reading.usd or 0.0 for reading in earlier_readings)
        self.read += len(earlier_readings)
        unread_records = [record for record in readable_records if readings.find(record.title, record.abstract) is None]
        for start in range(0, len(unread_records), _AT_ONCE):
            batch = unread_records[start : start + _AT_ONCE]
            failures = [reading for reading in await gather_settled(batch, self._ask) if isinstance(reading, Failed)]
            self.read += len(batch) - len(failures)
            for failure in failures:
                self._count_left(failure.error.reason)
            if any(isinstance(failure.error, BudgetExhausted) for failure in failures):
                self._count_left("the budget was spent", len(unread_records) - start - len(batch))
                return

    def _is_readable(self, record: PaperRecord) -> bool:
        if len(record.abstract) > _READ_CHARS:
            self._count_left("the abstract is too long")
        elif sanitise(f"{record.title}\n{record.abstract}")[1]:
            self._count_left("the text contains hidden characters or instructions to its reader")
        else:
            return True
        return False

    def _count_left(self, reason: str, papers: int = 1) -> None:
        if papers:
            self.left[reason] = self.left.get(reason, 0) + papers

    async def _ask(self, record: PaperRecord) -> None:
        question = ContentQuestion(title=record.title, abstract=record.abstract)
        answer = await self.llm.run(CONTENTS, question, self.run)
        contents = locate_contents(question, answer.value)
        reader = f"{answer.record.model}, {CONTENTS.name} v{CONTENTS.version}"
        reading = ContentReading.build(
            compute_text_key(record.title, record.abstract), reader, answer.record.cost_usd, contents
        )
        append_reading(self.path, reading)
