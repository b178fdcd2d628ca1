"""Ports through which a method uses external backends. They are small protocols; adapters live in `workers`, `index`
and `cluster`."""

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

Vectors = NDArray[np.float32]
"""Array of shape (n, dimensions) with rows of unit length."""


class Clock(Protocol):
    def now(self) -> dt.datetime:
        """Return the current time, timezone-aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start; the value never decreases."""
        ...


class ProgressEvent(NamedTuple):
    run_id: EvaluationId
    stage: str
    done: int
    total: int


class Progress(Protocol):
    def report(self, event: ProgressEvent) -> None:
        """Report an event. The implementation must neither block nor raise."""
        ...


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Name of the model, including everything else that changes its vectors; recorded in indexes and reports."""
        ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        """Return one unit vector per text, in order. An empty sequence gives shape (0, dimensions)."""
        ...


class LexicalWeights(NamedTuple):
    """Learned weights of the tokens of a text, which express how much each token says about the text's subject. The
    similarity of two texts is the sum, over common tokens, of the products of their weights."""

    tokens: NDArray[np.int32]
    """Token ids, ascending and unique."""
    weights: NDArray[np.float32]
    """Weights of the tokens, above 0."""


class WeighedTexts(NamedTuple):
    """Vectors and lexical weights of texts, in order."""

    vectors: Vectors
    lexical: Sequence[LexicalWeights]


@runtime_checkable
class LexicalEmbedder(Protocol):
    """Embedder whose model also assigns weights to tokens."""

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        """Return the vectors of `embed` and the lexical weights, computed in the same pass."""
        ...


class Reranker(Protocol):
    @property
    def name(self) -> str:
        """Model name; recorded in reports."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return how well each text answers the query, from 0 to 1, in order."""
        ...


class CitationIds(NamedTuple):
    """Ids of the papers that a paper cites, and of the papers that cite it, in the order of `Literature.references` and
    `Literature.citing`."""

    cited: Sequence[PaperId]
    citing: Sequence[PaperId]


class Literature(Protocol):
    """Papers published within a window of days. Papers published outside it are left out, and so are undated papers if
    the window has a last day. Responses of the local corpus are deterministic for a given `version`. All methods raise
    LiteratureError."""

    @property
    def version(self) -> str:
        """Version that identifies the exact state of the corpus and the remote sources that supplement it."""
        ...

    @property
    def source(self) -> str:
        """Name of the local corpus as a source."""
        ...

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        """Search papers by title and abstract; return at most `limit` per query, best first."""
        ...

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        """Search passages of full texts if available, otherwise of abstracts; return them best first."""
        ...

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        """Return the papers most similar to each requested paper, excluding itself. Unknown ids are missing
        from the result."""
        ...

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return the papers in the window that each requested paper cites, as far as the source knows them, at most
        `limit` each."""
        ...

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return the papers in the window that cite each requested paper, as far as the source knows them; at
        most `limit`, newest first. Unknown ids are missing from the result."""
        ...

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, "CitationIds"]:
        """Return the ids of the papers that `references` and `citing` return. Meant for walks through the citation
        graph, which visit many more papers than they return."""
        ...

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        """Return the concepts, methods and claims of papers in the local corpus; papers that the corpus does not have
        are missing from the result."""
        ...

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        """Return the records of known ids; unknown ids are missing from the result."""
        ...

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        """Return the cosine similarity of a text to each known paper."""
        ...

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """Return the retraction notices of the papers; papers without a known retraction are missing from the
        result."""
        ...

    async def fit(self, text: str, window: Window) -> CorpusFit:
        """Return how well the local corpus covers the field of a text."""
        ...


class ReferenceSource(Protocol):
    """Source of paper records in which the references of an idea are looked up. There is no cutoff, because a reference
    can be checked whenever it was published. Methods raise AssayerError."""

    @property
    def name(self) -> str: ...

    @property
    def searches(self) -> bool:
        """True if the source can be searched by the words of a reference."""
        ...

    def resolves(self, paper: Identifiers) -> bool:
        """Return whether the source can look up a paper by one of these identifiers."""
        ...

    async def resolve(self, papers: Sequence[Identifiers]) -> Sequence[Paper | None]:
        """Return the record of each paper, in order; None for an unknown paper."""
        ...

    async def search(self, reference: str) -> Sequence[Paper]:
        """Return a few records, best first, for a title or a whole entry of a reference list."""
        ...

    def knows_retractions(self, paper: Identifiers) -> bool:
        """Return whether the source can look up retraction notices by one of these identifiers."""
        ...

    async def retractions(self, papers: Sequence[Identifiers]) -> Mapping[Identifiers, Retraction]:
        """Return notices about the papers in addition to those in the records themselves; papers without notices are
        missing from the result."""
        ...


class FullTexts(Protocol):
    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        """Return the text of every requested paper, or the reason why there is none. The papers must lie in the window.
        A text states whether it is known to be the version of the window: for a preprint, the newest version up to the
        last day. Texts from a corpus may be newer."""
        ...


class Web(Protocol):
    """Open web. Undated results are kept regardless of the window and have no `published`; callers with a cutoff must
    not base judgements on them."""

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[WebResult]]:
        """Return the results for each query, at most `limit`, best first. Raises SourceError."""
        ...

    async def read(self, urls: Sequence[str]) -> Mapping[str, WebPage | Absent]:
        """Return a page for every requested URL, or the reason why there is none."""
        ...


class Code(Protocol):
    """Public code repositories. Undated repositories are kept regardless of the window, as in Web."""

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Repository]]:
        """Search by name, description and README for repositories created in the window; at most `limit` for
        each query, best first. Raises SourceError."""
        ...

    async def read(self, repositories: Sequence[str], window: Window) -> Mapping[str, Codebase | Absent]:
        """Read repositories by `owner/name`, each as it was at the end of the window's last day. The result has an
        entry for every repository: its snapshot, or the reason why it could not be read."""
        ...


class Datasets(Protocol):
    """Catalogue of data sets. Undated data sets are kept regardless of the window, as in Web."""

    @property
    def source(self) -> str:
        """Name of the catalogue in calls and reports."""
        ...

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Dataset]]:
        """Search by title and description for data sets published in the window; at most `limit` for each
        query, best first. Raises SourceError."""
        ...
