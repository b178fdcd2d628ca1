"""The base graph's contents in memory-mapped arrays: which names each paper has, which papers have a name, and claims.

With the citations of `citation_graph` this is the graph that a corpus keeps: papers, concepts, methods and claims, and
edges between them. Names are known by hashes, so that segments with words of their own are walked as one. A paper
derives from another where it says that it builds on what the other introduces, and cites it; two papers share a method
where both name it. Neither is written down: both follow from names, and so hold for papers that come later.
"""

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
from assayer.text.names import normalised_name
from index.hashing import Hashes, hash64
from index.segments.content_readings import NOTHING_READ, ContentReadings
from index.segments.paper_store import PaperStore

__all__ = [
    "CLAIM",
    "CONTENT_FOLDER",
    "NAME_USE",
    "BaseGraphCounts",
    "ContentBatch",
    "ContentGraph",
    "found_contents",
    "name_keys",
    "write_content_graph",
    "write_contents",
]

CONTENT_FOLDER = "contents"
_KEYS, _NAMES, _KINDS = "name-keys.npy", "names.arrow", "name-kinds.npy"
_STARTS, _USES = "uses-starts.npy", "uses.npy"
_USER_STARTS, _USERS = "users-starts.npy", "users.npy"
_CLAIM_STARTS, _CLAIMS = "claims-starts.npy", "claims.npy"
_READERS = "readers.json"
_METHOD = 1
_INTRODUCED, _BUILT_ON = 1, 2
NAME_USE = np.dtype([("name", "<u4"), ("start", "<u4"), ("length", "<u2"), ("flags", "u1")])
"""A name in a paper, its sentence in title and abstract, and what the paper says of it."""
CLAIM = np.dtype([("start", "<u4"), ("length", "<u2")])
"""The sentence of a claim."""
_LONGEST = 2**16 - 1
"""Characters of a sentence."""
_NAME_SCHEMA = pa.schema([pa.field("name", pa.string(), nullable=False)])


class BaseGraphCounts(Frozen):
    """Of one segment."""

    concepts: int
    methods: int
    claims: int
    citations: int
    concerns: int
    """Edges from papers to concepts."""
    uses: int
    """Edges from papers to methods."""
    introduces: int
    builds_on: int
    readers: Mapping[str, int] = {}
    """Papers whose names and claims a language model read, by model and version of the prompt; others by patterns."""


class ContentBatch(NamedTuple):
    """What the papers of some rows hold."""

    counts: NDArray[np.int64]
    """Of names, by paper."""
    keys: Hashes
    names: pa.Array
    methods: NDArray[np.bool_]
    uses: NDArray[Any]
    claim_counts: NDArray[np.int64]
    claims: NDArray[Any]


def write_content_graph(store: PaperStore, directory: Path, readings: ContentReadings = NOTHING_READ) -> None:
    """Equal records and readings give equal files. Memory grows by some 300 bytes a paper."""
    readers: Counter[str] = Counter()
    batches = [_read(some, readings, readers) for some in store.batches(("title", "abstract"))]
    write_contents(batches or [_read([], readings, readers)], directory)
    if readers:
        (directory / CONTENT_FOLDER / _READERS).write_text(json.dumps(dict(sorted(readers.items()))) + "\n", "utf-8")


def write_contents(batches: Sequence[ContentBatch], directory: Path) -> None:
    """In the order of the papers' rows."""
    keys, first, numbers = np.unique(
        np.concatenate([one.keys for one in batches]), return_index=True, return_inverse=True
    )
    uses = np.concatenate([one.uses for one in batches])
    uses["name"] = numbers
    counts = np.concatenate([one.counts for one in batches])
    folder = directory / CONTENT_FOLDER
    folder.mkdir()
    np.save(folder / _KEYS, keys)
    np.save(folder / _KINDS, np.concatenate([one.methods for one in batches])[first].astype(np.uint8))
    _write_names(pa.chunked_array([one.names for one in batches]).take(pa.array(first)), folder / _NAMES)
    np.save(folder / _STARTS, _starts(counts))
    np.save(folder / _USES, uses)
    by_name = np.argsort(numbers, kind="stable")
    np.save(folder / _USER_STARTS, _starts(np.bincount(numbers, minlength=len(keys))))
    np.save(folder / _USERS, np.repeat(np.arange(len(counts), dtype=np.uint32), counts)[by_name])
    np.save(folder / _CLAIM_STARTS, _starts(np.concatenate([one.claim_counts for one in batches])))
    np.save(folder / _CLAIMS, np.concatenate([one.claims for one in batches]))


def _read(records: list[dict[str, Any]], readings: ContentReadings, readers: Counter[str]) -> ContentBatch:
    papers = []
    for one in records:
        reading = readings.of(one["title"], one["abstract"])
        readers.update([] if reading is None else [reading.reader])
        papers.append(contents_of(one["title"], one["abstract"]) if reading is None else reading.contents)
    mentions = [one for paper in papers for one in paper.mentions]
    return ContentBatch(
        np.array([len(one.mentions) for one in papers], np.int64),
        hash64(_key(one.kind, one.normalised) for one in mentions),
        pa.array([one.name for one in mentions], pa.string()),
        np.array([one.kind == "method" for one in mentions], np.bool_),
        np.array([(0, *_stored(one.sentence), _flags(one)) for one in mentions], NAME_USE),
        np.array([len(one.claims) for one in papers], np.int64),
        np.array([_stored(one) for paper in papers for one in paper.claims], CLAIM),
    )


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _write_names(names: pa.ChunkedArray, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, _NAME_SCHEMA) as writer:
        writer.write_batch(pa.record_batch([names.combine_chunks()], schema=_NAME_SCHEMA))


def _flags(one: Mention) -> int:
    return _INTRODUCED * one.introduced | _BUILT_ON * one.built_on


def _stored(part: TextPart) -> tuple[int, int]:
    """Start and length."""
    return part.start, min(part.end - part.start, _LONGEST)


def _text_at(text: str, start: int, length: int) -> str:
    return " ".join(text[start : start + length].split())


def name_keys(name: str) -> list[int]:
    """Under which a name is kept, as a method and as a concept."""
    keys: list[int] = hash64(_key(kind, normalised_name(name)) for kind in get_args(ContentKind)).tolist()
    return keys


def _key(kind: ContentKind, normalised: str) -> str:
    return f"{kind} {normalised}"


def found_contents(title: str, abstract: str) -> PaperContents:
    """Of a paper that is in no segment, or in one without this part."""
    text, found = text_with_title(title, abstract), contents_of(title, abstract)
    return PaperContents(
        named=tuple(
            NamedContent(
                kind=one.kind,
                name=one.name,
                introduced=one.introduced,
                built_on=one.built_on,
                sentence=_text_at(text, *_stored(one.sentence)),
            )
            for one in found.mentions
        ),
        claims=tuple(_text_at(text, *_stored(one)) for one in found.claims),
    )


class ContentGraph:
    """Of one segment. Opening reads nothing."""

    def __init__(self, directory: Path) -> None:
        folder = directory / CONTENT_FOLDER
        self._readers = folder / _READERS

        def mapped(name: str) -> NDArray[Any]:
            return np.asarray(np.load(folder / name, mmap_mode="r"))

        self._keys: Hashes = mapped(_KEYS)
        self._kinds: NDArray[np.uint8] = mapped(_KINDS)
        self._starts, self._uses = mapped(_STARTS), mapped(_USES)
        self._user_starts, self._users = mapped(_USER_STARTS), mapped(_USERS)
        self._claim_starts, self._claims = mapped(_CLAIM_STARTS), mapped(_CLAIMS)
        self._names = pa.ipc.open_file(pa.memory_map(str(folder / _NAMES))).get_batch(0)["name"]

    def contents(self, row: int, title: str, abstract: str) -> PaperContents:
        """`title` and `abstract` are those of the paper in the row."""
        text = text_with_title(title, abstract)
        named = (self._named(use, text) for use in self._uses[self._starts[row] : self._starts[row + 1]].tolist())
        claims = self._claims[self._claim_starts[row] : self._claim_starts[row + 1]].tolist()
        return PaperContents(named=tuple(named), claims=tuple(_text_at(text, *one) for one in claims))

    def papers_naming(self, key: int) -> NDArray[np.uint32]:
        """Rows of the papers that have the name with this key, ascending."""
        wanted = np.uint64(key)
        place = int(np.searchsorted(self._keys, wanted))
        if place == len(self._keys) or self._keys[place] != wanted:
            return self._users[:0]
        return self._users[self._user_starts[place] : self._user_starts[place + 1]]

    def counts(self, citations: int) -> BaseGraphCounts:
        """`citations` are those of the same segment."""
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

    def _named(self, use: tuple[int, int, int, int], text: str) -> NamedContent:
        name, start, length, flags = use
        return NamedContent(
            kind="method" if self._kinds[name] else "concept",
            name=self._names[name].as_py(),
            introduced=bool(flags & _INTRODUCED),
            built_on=bool(flags & _BUILT_ON),
            sentence=_text_at(text, start, length),
        )
