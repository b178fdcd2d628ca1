"""Searches at a steady rate while versions are published, and finds answers that failed or mixed two versions.

The titles of all papers in a version name its edition, which reveals a paper from another version than the one that
answered.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from assayer.errors import AssayerError
from assayer.models import OPEN, PaperId
from index import Corpus
from index.records.paper_record import PaperRecord

_TOPICS = ("bees in hedgerows", "moths by night", "nectar of clover", "late mowing of meadows", "beetles in dead wood")
_LIMIT = 10


class InFlight(Protocol):
    async def current(self) -> Corpus: ...


def build_edition(number: int, papers: int) -> list[PaperRecord]:
    """Return an edition of all papers; each title names the edition."""
    return [
        PaperRecord.model_validate(
            {
                "id": f"paper-{site}",
                "title": f"Edition {number}: {_TOPICS[site % len(_TOPICS)]}, site {site}",
                "abstract": f"We counted {_TOPICS[site % len(_TOPICS)]} at site {site} over {1 + site % 7} summers.",
                "publication_date": f"{2000 + site % 20}-01-01",
            }
        )
        for site in range(papers)
    ]


@dataclass
class Editions:
    """Edition of each version."""

    by_version: dict[str, int] = field(default_factory=dict)

    def add(self, version: str, number: int) -> None:
        self.by_version[version] = number


class Answer(NamedTuple):
    at: float
    """Seconds since the traffic began."""
    seconds: float
    version: str
    editions: frozenset[int]
    """Editions of the papers in the answer."""
    failure: str = ""


@dataclass
class Traffic:
    """Starts searches at a fixed rate whether or not earlier ones have been answered, up to `max_open_searches`
    at a time. Each search also looks up the papers that it found."""

    corpora: InFlight
    per_second: float
    max_open_searches: int = 1000
    """Largest number of unanswered searches; further searches are skipped."""
    answers: list[Answer] = field(default_factory=list)

    async def run(self, stop: asyncio.Event) -> None:
        began, query_count = time.monotonic(), 0
        open_tasks: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            while not stop.is_set():
                if len(open_tasks) < self.max_open_searches:
                    task = group.create_task(self._search(began, _TOPICS[query_count % len(_TOPICS)]))
                    open_tasks.add(task)
                    task.add_done_callback(open_tasks.discard)
                query_count += 1
                await asyncio.sleep(max(0.0, began + query_count / self.per_second - time.monotonic()))

    async def _search(self, began: float, query: str) -> None:
        start, version = time.monotonic(), ""
        titles: set[str] = set()
        try:
            corpus = await self.corpora.current()
            version = corpus.version
            (hits,) = await corpus.search([query], _LIMIT, OPEN)
            seconds = time.monotonic() - start
            papers_by_id = await corpus.papers([PaperId(hit.paper.id) for hit in hits], OPEN)
            titles = {hit.paper.title for hit in hits} | {paper.title for paper in papers_by_id.values()}
            failure = (
                "" if len(hits) == len(papers_by_id) == _LIMIT else f"{len(hits)} hits, {len(papers_by_id)} papers"
            )
        except AssayerError as error:
            seconds, failure = time.monotonic() - start, str(error)
        editions = frozenset(int(title.split(":")[0].split()[1]) for title in titles)
        self.answers.append(Answer(start - began, seconds, version, editions, failure))

    def list_failures(self) -> list[str]:
        return [answer.failure for answer in self.answers if answer.failure]

    def find_mixed_answers(self, editions: Editions) -> list[Answer]:
        """Return answers with papers of more than one edition, or of another edition than their version's."""
        return [
            answer
            for answer in self.answers
            if not answer.failure and answer.editions != {editions.by_version[answer.version]}
        ]

    def compute_p95(self, first: float, last: float) -> float:
        """Return the 95th percentile in milliseconds of the searches started between two times."""
        return float(np.quantile([answer.seconds for answer in self.answers if first <= answer.at < last], 0.95)) * 1000
