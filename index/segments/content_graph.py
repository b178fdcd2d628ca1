"""Content graph for a segment, in memory-mapped arrays: the names (concepts and methods) and claims in each paper, and
the papers that contain each name.

Together with `citation_graph`, this is the base graph of a corpus: papers, concepts, methods and claims, and edges
between them. Names are identified by hashes, so that segments can be traversed as one graph. Relations between papers
follow from names and are not stored: paper A derives from paper B if A cites B and says that it builds on what B
introduces; two papers share a method if both name it."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assayer.models import ContentKind, Frozen, NamedContent, PaperContents
from assayer.text.contents import Mention, TextPart, contents_of, text_with_title
from assayer.text.names import normalise_name
from index.arrays import load_array
from index.hashing import Hashes, hash64
from index.segments.content_readings import NOTHING_READ, ContentReadings
from index.segments.paper_store import PaperStore

CONTENT_FOLDER = "contents"
_KEYS, _NAMES, _KINDS = "name-keys.npy", "names.arrow", "name-kinds.npy"
_STARTS, _USES = "uses-starts.npy", "uses.npy"
_USER_STARTS, _USERS = "users-starts.npy", "users.npy"
_CLAIM_STARTS, _CLAIMS = "claims-starts.npy", "claims.npy"
_READERS = "readers.json"
_METHOD = 1
_INTRODUCED, _BUILT_ON = 1, 2
NAME_USE = np.dtype([("name", "<u4"), ("start", "<u4"), ("length", "<u2"), ("flags", "u1")])
"""Entry for a name in a paper: its sentence, as start and length in title and abstract, and how the paper uses it."""
CLAIM = np.dtype([("start", "<u4"), ("length", "<u2")])
"""Entry for a claim: its sentence, as start and length in title and abstract."""
_MAX_SENTENCE_CHARS = 2**16 - 1
"""Maximum number of characters of a sentence that are stored."""
_NAME_SCHEMA = pa.schema([pa.field("name", pa.string(), nullable=False)])


class BaseGraphCounts(Frozen):
    """Counts of concepts, methods, claims and edges in one segment."""

    concepts: int
    methods: int
    claims: int
    citations: int
    concerns: int
    """Number of edges from papers to concepts."""
    uses: int
    """Number of edges from papers to methods."""
    introduces: int
    builds_on: int
    readers: Mapping[str, int] = {}
    """Number of papers whose contents a language model extracted, keyed by model and prompt version. The other papers'
    contents were extracted by pattern matching."""


class ContentBatch(NamedTuple):
    """Contents of papers in consecutive rows."""

    counts: NDArray[np.int64]
    """Number of names in each paper."""
    keys: Hashes
    names: pa.Array
    methods: NDArray[np.bool_]
    uses: NDArray[Any]
    claim_counts: NDArray[np.int64]
    claims: NDArray[Any]


def write_content_graph(store: PaperStore, directory: Path, readings: ContentReadings = NOTHING_READ) -> None:
    """Write the content graph. Equal records and readings produce equal files. Memory use is about 300 bytes per
    paper."""
    readers: Counter[str] = Counter()
    batches = [_read(batch, readings, readers) for batch in store.read_batches(("title", "abstract"))]
    write_contents(batches or [_read([], readings, readers)], directory)
    if readers:
        (directory / CONTENT_FOLDER / _READERS).write_text(json.dumps(dict(sorted(readers.items()))) + "\n", "utf-8")


def write_contents(batches: Sequence[ContentBatch], directory: Path) -> None:
    """Write the contents to files. `batches` must be in the order of the papers' rows."""
    keys, first, numbers = np.unique(
        np.concatenate([batch.keys for batch in batches]), return_index=True, return_inverse=True
    )
    uses = np.concatenate([batch.uses for batch in batches])
    uses["name"] = numbers
    counts = np.concatenate([batch.counts for batch in batches])
    folder = directory / CONTENT_FOLDER
    folder.mkdir()
    np.save(folder / _KEYS, keys)
    np.save(folder / _KINDS, np.concatenate([batch.methods for batch in batches])[first].astype(np.uint8))
    _write_names(pa.chunked_array([batch.names for batch in batches]).take(pa.array(first)), folder / _NAMES)
    np.save(folder / _STARTS, _starts(counts))
    np.save(folder / _USES, uses)
    by_name = np.argsort(numbers, kind="stable")
    np.save(folder / _USER_STARTS, _starts(np.bincount(numbers, minlength=len(keys))))
    np.save(folder / _USERS, np.repeat(np.arange(len(counts), dtype=np.uint32), counts)[by_name])
    np.save(folder / _CLAIM_STARTS, _starts(np.concatenate([batch.claim_counts for batch in batches])))
    np.save(folder / _CLAIMS, np.concatenate([batch.claims for batch in batches]))


def _read(records: list[dict[str, Any]], readings: ContentReadings, readers: Counter[str]) -> ContentBatch:
    papers = []
    for record in records:
        reading = readings.find(record["title"], record["abstract"])
        readers.update([] if reading is None else [reading.reader])
        papers.append(contents_of(record["title"], record["abstract"]) if reading is None else reading.contents)
    mentions = [mention for paper in papers for mention in paper.mentions]
    return ContentBatch(
        np.array([len(paper.mentions) for paper in papers], np.int64),
        hash64(_build_key(mention.kind, mention.normalised) for mention in mentions),
        pa.array([mention.name for mention in mentions], pa.string()),
        np.array([mention.kind == "method" for mention in mentions], np.bool_),
        np.array([(0, *_start_and_length(mention.sentence), _encode_flags(mention)) for mention in mentions], NAME_USE),
        np.array([len(paper.claims) for paper in papers], np.int64),
        np.array([_start_and_length(claim) for paper in papers for claim in paper.claims], CLAIM),
    )


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _write_names(names: pa.ChunkedArray, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, _NAME_SCHEMA) as writer:
        writer.write_batch(pa.record_batch([names.combine_chunks()], schema=_NAME_SCHEMA))


def _encode_flags(mention: Mention) -> int:
    return _INTRODUCED * mention.introduced | _BUILT_ON * mention.built_on


def _start_and_length(part: TextPart) -> tuple[int, int]:
    """Return the start and length of a sentence, with the length capped at `_MAX_SENTENCE_CHARS`."""
    return part.start, min(part.end - part.start, _MAX_SENTENCE_CHARS)


def _extract_text(text: str, start: int, length: int) -> str:
    return " ".join(text[start : start + length].split())


def compute_name_keys(name: str) -> list[int]:
    """Return the keys under which a name is stored: as a method and as a concept."""
    keys: list[int] = hash64(_build_key(kind, normalise_name(name)) for kind in get_args(ContentKind)).tolist()
    return keys


def _build_key(kind: ContentKind, name: str) -> str:
    return f"{kind} {name}"


def extract_contents(title: str, abstract: str) -> PaperContents:
    """Extract contents by pattern matching from a paper that is not in a segment."""
    text, contents = text_with_title(title, abstract), contents_of(title, abstract)
    return PaperContents(
        named=tuple(
            NamedContent(
                kind=mention.kind,
                name=mention.name,
                introduced=mention.introduced,
                built_on=mention.built_on,
                sentence=_extract_text(text, *_start_and_length(mention.sentence)),
            )
            for mention in contents.mentions
        ),
        claims=tuple(_extract_text(text, *_start_and_length(claim)) for claim in contents.claims),
    )


class ContentGraph:
    """Content graph for a segment. Opening it reads no data."""

    def __init__(self, directory: Path) -> None:
        folder = directory / CONTENT_FOLDER
        self._readers = folder / _READERS

        def load(name: str) -> NDArray[Any]:
            return load_array(folder / name)

        self._keys: Hashes = load(_KEYS)
        self._kinds: NDArray[np.uint8] = load(_KINDS)
        self._starts, self._uses = load(_STARTS), load(_USES)
        self._user_starts, self._users = load(_USER_STARTS), load(_USERS)
        self._claim_starts, self._claims = load(_CLAIM_STARTS), load(_CLAIMS)
        self._names = pa.ipc.open_file(pa.memory_map(str(folder / _NAMES))).get_batch(0)["name"]

    def get_contents(self, row: int, title: str, abstract: str) -> PaperContents:
        """Return the contents of the paper in a row. `title` and `abstract` must be that paper's."""
        text = text_with_title(title, abstract)
        named_contents = (
            self._get_named_content(use, text) for use in self._uses[self._starts[row] : self._starts[row + 1]].tolist()
        )
        claims = self._claims[self._claim_starts[row] : self._claim_starts[row + 1]].tolist()
        return PaperContents(named=tuple(named_contents), claims=tuple(_extract_text(text, *claim) for claim in claims))

    def find_papers_naming(self, key: int) -> NDArray[np.uint32]:
        """Return the rows of the papers that contain the name with this key, ascending."""
        key_hash = np.uint64(key)
        place = int(np.searchsorted(self._keys, key_hash))
        if place == len(self._keys) or self._keys[place] != key_hash:
            return self._users[:0]
        return self._users[self._user_starts[place] : self._user_starts[place + 1]]

    def count_nodes_and_edges(self, citations: int) -> BaseGraphCounts:
        """Count the graph's nodes and edges. `citations` is the number of citations in the segment."""
        methods = self._kinds[self._uses["name"]] == _METHOD
        flags = self._uses["flags"]
        return BaseGraphCounts(
            concepts=int(np.count_nonzero(self._kinds == 0)),
            methods=int(np.count_nonzero(self._kinds == _METHOD)),
            claims=len(self._claims),
            citations=citations,
            concerns=int(np.count_nonzero(~methods)),
            uses=int(np.count_nonzero(methods)),
            introduces=int(np.count_nonzero(flags & _INTRODUCED)),
            builds_on=int(np.count_nonzero(flags & _BUILT_ON)),
            readers=json.loads(self._readers.read_bytes()) if self._readers.is_file() else {},
        )

    def _get_named_content(self, use: tuple[int, int, int, int], text: str) -> NamedContent:
        name, start, length, flags = use
        return NamedContent(
            kind="method" if self._kinds[name] else "concept",
            name=self._names[name].as_py(),
            introduced=bool(flags & _INTRODUCED),
            built_on=bool(flags & _BUILT_ON),
            sentence=_extract_text(text, start, length),
        )
