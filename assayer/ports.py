"""What a method may ask of the backends outside. Small protocols; adapters live in `workers`, `index` and `cluster`."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from assayer.models import (
    Absent,
    Codebase,
    CorpusFit,
    Dataset,
    EvaluationId,
    FullText,
    Hit,
    Identifiers,
    Paper,
    PaperContents,
    PaperId,
    Passage,
    Repository,
    Retraction,
    WebPage,
    WebResult,
    Window,
)

__all__ = [
    "CitationIds",
    "Clock",
    "Code",
    "Datasets",
    "Embedder",
    "FullTexts",
    "LexicalEmbedder",
    "LexicalWeights",
    "Literature",
    "Progress",
    "ProgressEvent",
    "ReferenceSource",
    "Reranker",
    "Vectors",
    "Web",
    "WeighedTexts",
]


Vectors = NDArray[np.float32]
"""Shape (n, dimensions), rows of unit length."""


class Clock(Protocol):
    def now(self) -> dt.datetime:
        """Timezone-aware, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...


Activity = Literal["place", "loading", "searching", "full_texts", "permits"]
"""place: waiting for a free place in the process; loading: a corpus; searching: literature, with whatever loads for the
first search; full_texts: fetching and parsing them; permits: waiting until a language model may be asked."""


class ActivitySpan(NamedTuple):
    """A stretch of time in which a run did something beside asking language models."""

    what: Activity
    start: dt.datetime
    end: dt.datetime


class ProgressEvent(NamedTuple):
    run_id: EvaluationId
    stage: str
    done: int
    total: int
    activities: tuple[ActivitySpan, ...] = ()
    """Of the run so far."""


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


class LexicalWeights(NamedTuple):
    """How much each token of a text tells what it is about, as a model has learnt it: two texts are alike as far as the
    products of the weights of tokens in both add up."""

    tokens: NDArray[np.int32]
    """Rising, each once."""
    weights: NDArray[np.float32]
    """Of the tokens, above 0."""


class WeighedTexts(NamedTuple):
    """Of each text, in order."""

    vectors: Vectors
    lexical: Sequence[LexicalWeights]


@runtime_checkable
class LexicalEmbedder(Protocol):
    """What an Embedder also is where its model weighs tokens."""

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        """The vectors of `embed`, and the weights of the same pass."""
        ...


class Reranker(Protocol):
    @property
    def name(self) -> str:
        """Model name; recorded in reports."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, 0 to 1, in order."""
        ...


class CitationIds(NamedTuple):
    """Of one paper, in the order of `Literature.references` and `Literature.citing`."""

    cited: Sequence[PaperId]
    citing: Sequence[PaperId]


class Literature(Protocol):
    """Papers published in a window of days. What the local corpus answers is deterministic for one `version`.

    Papers published on other days are left out, and undated ones where the window has a last day.
    All raise LiteratureError.
    """

    @property
    def version(self) -> str:
        """Names the exact state of the corpus that answers, and the remote sources that top it up."""
        ...

    @property
    def source(self) -> str:
        """The local corpus's name among sources."""
        ...

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        """Papers by title and abstract; for each query at most `limit`, best first."""
        ...

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        """Passages (of full texts where there are any, else of abstracts), best first."""
        ...

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        """Papers most like each given one, itself excluded. Unknown ids are missing from the answer."""
        ...

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """What each given paper cites, as far as the source knows it; of the papers of the window at most `limit`."""
        ...

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """The papers of the window that cite each given one, as far as the source knows them; at most `limit`, the
        newest first. Unknown ids are missing from the answer."""
        ...

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, "CitationIds"]:
        """What `references` and `citing` answer, by ids alone: for walks, which come past many more papers than they
        return."""
        ...

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        """Concepts, methods and claims of papers as the local corpus keeps them; papers that it has not are missing."""
        ...

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        """The records of known ids; unknown ids are missing from the answer."""
        ...

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        """Cosine of a text with each known paper."""
        ...

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """Notices about the given papers; those without a known retraction are missing from the answer."""
        ...

    async def fit(self, text: str, window: Window) -> CorpusFit:
        """Whether the local corpus covers the field of a text at all."""
        ...


class ReferenceSource(Protocol):
    """One place that has records of papers, asked for what an idea refers to. Raises AssayerError.

    No cutoff: whether a reference exists does not depend on when it was published.
    """

    @property
    def name(self) -> str: ...

    @property
    def searches(self) -> bool:
        """Whether it can be asked by the words of a reference."""
        ...

    def resolves(self, paper: Identifiers) -> bool:
        """Whether it can be asked by one of these."""
        ...

    async def resolve(self, papers: Sequence[Identifiers]) -> Sequence[Paper | None]:
        """The record of each, in order, None for an unknown one."""
        ...

    async def search(self, reference: str) -> Sequence[Paper]:
        """A few records, best first, for a title or a whole entry of a list of references."""
        ...

    def knows_retractions(self, paper: Identifiers) -> bool:
        """Whether it can be asked for notices by one of these."""
        ...

    async def retractions(self, papers: Sequence[Identifiers]) -> Mapping[Identifiers, Retraction]:
        """Notices about the given papers, beyond what the records themselves say; those without are missing."""
        ...


class FullTexts(Protocol):
    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        """Every asked paper is in the answer: the text, or why there is none.

        The papers lie in the window already. A text says whether it is known to be the one of the window: of a
        preprint the newest version by its last day. What a corpus holds may be of later.
        """
        ...


class Web(Protocol):
    """The open web.

    Undated results stay in whatever the window and have no `published`: who has a cutoff may not judge by them.
    """

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[WebResult]]:
        """For each query at most `limit`, best first. Raises SourceError."""
        ...

    async def read(self, urls: Sequence[str]) -> Mapping[str, WebPage | Absent]:
        """Every asked address is in the answer: the page, or why there is none."""
        ...


class Code(Protocol):
    """Public repositories. Undated ones stay in whatever the window, as in Web."""

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Repository]]:
        """By name, description and README, created in the window; at most `limit` for each query, best first.
        Raises SourceError."""
        ...

    async def read(self, repositories: Sequence[str], window: Window) -> Mapping[str, Codebase | Absent]:
        """By `owner/name`, each as it was at the end of the window's last day; every one is in the answer, or why
        not."""
        ...


class Datasets(Protocol):
    """A catalogue of data sets. Undated ones stay in whatever the window, as in Web."""

    @property
    def source(self) -> str:
        """Its name in calls and reports."""
        ...

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Dataset]]:
        """By title and description, published in the window; at most `limit` for each query, best first. Raises
        SourceError."""
        ...
