"""Ports: small protocols through which evaluation methods use external backends. Their adapters live in `workers`,
`index` and `cluster`."""

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
"""Array of shape (n, dimensions) whose rows have unit length."""


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
        """Report an event. Implementations must neither block nor raise."""
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
    """Learned weights for a text's tokens; a weight expresses how much the token says about the text's subject. The
    similarity of two texts is the sum, over their common tokens, of the products of the weights."""

    tokens: NDArray[np.int32]
    """Token ids, ascending and unique."""
    weights: NDArray[np.float32]
    """One weight per token, above 0."""


class WeighedTexts(NamedTuple):
    """Vectors and lexical weights for several texts, in order."""

    vectors: Vectors
    lexical: Sequence[LexicalWeights]


@runtime_checkable
class LexicalEmbedder(Protocol):
    """Embedder whose model also assigns weights to tokens."""

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        """Return the vectors that `embed` returns, with the lexical weights from the same pass."""
        ...


class Reranker(Protocol):
    @property
    def name(self) -> str:
        """Model name; recorded in reports."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score from 0 to 1 for each text, in order: how well it answers the query."""
        ...


class CitationIds(NamedTuple):
    """Ids of the papers that a paper cites and of those that cite it, in the same order as in `Literature.references`
    and `Literature.citing`."""

    cited: Sequence[PaperId]
    citing: Sequence[PaperId]


class Literature(Protocol):
    """Source of papers published within a date window. Papers outside the window are left out; if the window has a last
    day, so are undated papers. For a given `version`, the local corpus always returns the same results. All methods
    raise LiteratureError if the source fails."""

    @property
    def version(self) -> str:
        """Identifier for the exact state of the corpus and of the remote sources that supplement it."""
        ...

    @property
    def source(self) -> str:
        """Name under which reports list the local corpus as a source."""
        ...

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        """Search papers by title and abstract; return at most `limit` per query, best first."""
        ...

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        """Search passages of full texts where available, otherwise of abstracts; return at most `limit` per query, best
        first."""
        ...

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        """Return the papers most similar to each requested paper, excluding itself. Unknown ids are omitted."""
        ...

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return the papers in the window that each requested paper cites, at most `limit` each. The lists are as
        complete as the source's citation data."""
        ...

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return the papers in the window that cite each requested paper, at most `limit` each, newest first. The lists
        are as complete as the source's citation data. Unknown ids are omitted."""
        ...

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, "CitationIds"]:
        """Return the ids of the papers that `references` and `citing` return. Intended for walking the citation graph,
        which visits many more papers than it returns."""
        ...

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        """Return the concepts, methods and claims extracted from papers in the local corpus. Papers not in the corpus
        are omitted."""
        ...

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        """Look up paper records by id. Unknown ids are omitted."""
        ...

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        """Return the cosine similarity between a text and each known paper."""
        ...

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """Return the papers' retraction notices. Papers without a known retraction are omitted."""
        ...

    async def fit(self, text: str, window: Window) -> CorpusFit:
        """Return how well the local corpus covers a text's field of research."""
        ...


class ReferenceSource(Protocol):
    """Source of paper records for looking up an idea's references. No cutoff applies: a reference can be checked
    whatever its publication date. Methods raise AssayerError if the source fails."""

    @property
    def name(self) -> str: ...

    @property
    def searches(self) -> bool:
        """Whether the source can be searched by the words of a reference."""
        ...

    def can_resolve(self, paper: Identifiers) -> bool:
        """Return whether the source can look up a paper by one of these identifiers."""
        ...

    async def resolve(self, papers: Sequence[Identifiers]) -> Sequence[Paper | None]:
        """Look up papers by their identifiers. Returns their records in order, None for an unknown paper."""
        ...

    async def search(self, reference: str) -> Sequence[Paper]:
        """Return a few records, best first, for a title or a whole entry of a reference list."""
        ...

    def can_check_retraction(self, paper: Identifiers) -> bool:
        """Return whether the source can look up retraction notices by one of these identifiers."""
        ...

    async def retractions(self, papers: Sequence[Identifiers]) -> Mapping[Identifiers, Retraction]:
        """Return retraction notices beyond those already in the papers' records. Papers without notices are omitted."""
        ...


class FullTexts(Protocol):
    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        """Return every requested paper's text, or the reason why there is none. The papers must lie in the window.

        Each text says whether it is known to be the version that belongs to the window: for a preprint, the newest
        version up to the window's last day. Texts from a corpus may be newer."""
        ...


class Web(Protocol):
    """Search of the open web. Undated results are kept regardless of the window and have no `published` date; callers
    with a cutoff must not base judgements on them."""

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[WebResult]]:
        """Return the results for each query, at most `limit` each, best first. Raises SourceError if the search
        fails."""
        ...

    async def read(self, urls: Sequence[str]) -> Mapping[str, WebPage | Absent]:
        """Fetch web pages. The result has an entry for every requested URL: the page, or the reason why there is
        none."""
        ...


class Code(Protocol):
    """Search of public code repositories. Undated repositories are kept regardless of the window, as in Web."""

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Repository]]:
        """Search by name, description and README for repositories created in the window. Returns at most `limit` per
        query, best first. Raises SourceError if the search fails."""
        ...

    async def read(self, repositories: Sequence[str], window: Window) -> Mapping[str, Codebase | Absent]:
        """Read repositories, named as `owner/name`, as they were at the end of the window's last day. The result has an
        entry for every repository: its snapshot, or the reason why it could not be read."""
        ...


class Datasets(Protocol):
    """Catalogue of data sets. Undated data sets are kept regardless of the window, as in Web."""

    @property
    def source(self) -> str:
        """Name of the catalogue, recorded with requests and shown in reports."""
        ...

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Dataset]]:
        """Search by title and description for data sets published in the window. Returns at most `limit` per query,
        best first. Raises SourceError if the search fails."""
        ...
