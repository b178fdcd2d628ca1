"""What a method may ask of the world. Small protocols; adapters live in `workers`, `index` and `cluster`."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from assayer.models import (
    Absent,
    CallRecord,
    Codebase,
    CorpusFit,
    EvaluationId,
    FullText,
    Hit,
    Page,
    Paper,
    PaperId,
    Passage,
    Repository,
    Retraction,
    WebResult,
)

if TYPE_CHECKING:
    from assayer.run import Run
    from assayer.tasks import Task

__all__ = [
    "Answer",
    "Clock",
    "Code",
    "Embedder",
    "FullTexts",
    "Literature",
    "Llm",
    "Progress",
    "ProgressEvent",
    "Reranker",
    "Vectors",
    "Web",
]

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

Vectors = NDArray[np.float32]
"""Shape (n, dimensions), rows of unit length."""


class Clock(Protocol):
    def now(self) -> dt.datetime:
        """Timezone-aware, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...


class ProgressEvent(NamedTuple):
    run_id: EvaluationId
    stage: str
    done: int
    total: int


class Progress(Protocol):
    def report(self, event: ProgressEvent) -> None:
        """Must not block and must not raise."""
        ...


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Model name and whatever else changes its vectors; recorded in indexes and reports."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        """One unit vector a text, in order. An empty sequence gives shape (0, dimensions)."""
        ...


class Reranker(Protocol):
    @property
    def name(self) -> str:
        """Model name; recorded in reports."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, 0 to 1, in order."""
        ...


class Literature(Protocol):
    """Papers known before a cutoff. What the local corpus answers is deterministic for one `version`.

    `before` is the last day that counts: papers published later, and undated ones, are left out; with
    None everything counts. All raise LiteratureError.
    """

    @property
    def version(self) -> str:
        """Names the exact state of the corpus that answers, and the remote sources that top it up."""
        ...

    @property
    def source(self) -> str:
        """The local corpus's name among sources."""
        ...

    async def search(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Hit]]:
        """Papers by title and abstract; for each query at most `limit`, best first."""
        ...

    async def snippets(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Passage]]:
        """Passages (of full texts where there are any, else of abstracts), best first."""
        ...

    async def neighbours(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        """Papers most like each given one, itself excluded. Unknown ids are missing from the answer."""
        ...

    async def references(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        """What each given paper cites, as far as the source knows it."""
        ...

    async def papers(self, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        """The records of known ids; unknown ids are missing from the answer."""
        ...

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        """Cosine of a text with each known paper."""
        ...

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """What is known of the given papers' retraction; those that stand, or that nobody knows, are missing."""
        ...

    async def fit(self, text: str, before: dt.date | None) -> CorpusFit:
        """Whether the local corpus covers the field of a text at all."""
        ...


class FullTexts(Protocol):
    async def get(self, papers: Sequence[Paper]) -> Mapping[PaperId, FullText | Absent]:
        """Every asked paper is in the answer: the text, or why there is none."""
        ...


class Web(Protocol):
    """The open web. `after` and `before` are days of publication that count, both included; None is open.

    Undated results stay in whatever the window and have no `published`: who has a cutoff may not judge by them.
    """

    async def search(
        self, queries: Sequence[str], limit: int, after: dt.date | None, before: dt.date | None
    ) -> list[list[WebResult]]:
        """For each query at most `limit`, best first. Raises SourceError."""
        ...

    async def read(self, urls: Sequence[str]) -> Mapping[str, Page | Absent]:
        """Every asked address is in the answer: the page, or why there is none."""
        ...


class Code(Protocol):
    """Public repositories. Dates as in Web."""

    async def search(
        self, queries: Sequence[str], limit: int, after: dt.date | None, before: dt.date | None
    ) -> list[list[Repository]]:
        """By name, description and README, created in the window; at most `limit` for each query, best first.
        Raises SourceError."""
        ...

    async def read(self, repositories: Sequence[str], before: dt.date | None) -> Mapping[str, Codebase | Absent]:
        """By `owner/name`, each as it was at the end of the day `before`; every one is in the answer, or why not."""
        ...


class Answer(NamedTuple, Generic[Out]):
    """A valid answer and what it took."""

    value: Out
    record: CallRecord


class Llm(Protocol):
    """The one door to every language model, or to the tasks' fallbacks when there is none."""

    @property
    def models(self) -> tuple[str, ...]:
        """Models behind the door; empty when the fallbacks answer."""
        ...

    async def run(self, task: "Task[In, Out]", data: In, run: "Run") -> Answer[Out]:
        """Raises an LlmError, BudgetExhausted or RunCancelled."""
        ...
