"""Read and write manifests, which list a corpus version's contents.

A manifest contains the checksums of all other files. Its own checksum is stored next to it, in the format of
`sha256sum`, so that a change to the manifest itself is detected too. This guards only against damage and mistakes:
anyone with write access to the directory can change both files, so never open a corpus that others can change."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import ValidationError, field_validator

from assayer.errors import CorpusError
from assayer.models import Frozen
from assayer.ports import Embedder, LexicalEmbedder
from index import corpus_fit
from index.corpus_fit import FitCalibration
from index.hashing import REBUILD_HINT, FileChecksum
from index.records.record_sources import RecordSource, RejectedLine
from index.segments import bm25_index, passages, vector_index
from index.segments.segment import SegmentEntry

_CODE = 5
"""Version of the build code. Increment it with every change that alters what is built; a test on known records detects
a missed increment."""
_CONSTANTS = (
    vector_index.TUNING_CONSTANTS,
    corpus_fit.FIT_CONSTANTS,
    bm25_index.TOKENIZER,
    passages.PASSAGE_WORDS,
    corpus_fit.SAMPLE_SIZE,
)
FORMAT = f"{_CODE}-{hashlib.sha256(repr(_CONSTANTS).encode()).hexdigest()[:12]}"
"""Format of built files. It changes automatically if a constant changes."""
MANIFEST = "manifest.json"
SEAL_FILE = "manifest.json.sha256"


class RejectionCount(Frozen):
    reason: str
    count: int


class CorpusChanges(Frozen):
    """Numbers of papers that changed since the previous version."""

    before: str
    """Previous version."""
    new: int
    changed: int
    unchanged: int
    removed: int
    unknown: int
    """Number of deletions that named papers not in the corpus."""
    embedded: int
    """Number of texts that had to be embedded; the others kept their vectors."""
    seconds: float
    """Seconds until the segments were written, excluding the BM25 index and publishing."""


class SealedManifest(Frozen):
    """Manifest whose own checksum is stored next to it. Subclasses have a field `format` that rejects files from other
    releases."""

    version: str
    """Hash of everything that determines search results; also the name of the version's directory."""


class Manifest(SealedManifest):
    format: str = FORMAT
    embedder: str
    dimensions: int
    exact_up_to: int
    lexical: bool = False
    """True if the embedder's lexical weights are stored and used in search."""
    segments: tuple[SegmentEntry, ...]
    """Segments, oldest first."""
    fit: FitCalibration | None
    """Fit calibration; None if the corpus is too small to measure."""
    sources: tuple[RecordSource, ...]
    rejected: tuple[RejectionCount, ...]
    """Counts of rejected lines, most frequent reason first; each line is in `rejected.jsonl`."""
    changes: CorpusChanges | None
    """Changes since the previous version; None for a newly built corpus."""
    files: tuple[FileChecksum, ...]
    """Files in the version's own directory. Segments' files are listed in their entries."""

    @field_validator("format")
    @classmethod
    def _present(cls, value: str) -> str:
        if value != FORMAT:
            raise ValueError(f"is not {FORMAT}")
        return value

    @property
    def papers(self) -> int:
        return sum(segment.papers - segment.hidden for segment in self.segments)

    @property
    def earliest(self) -> dt.date | None:
        return min((segment.earliest for segment in self.segments if segment.earliest), default=None)

    @property
    def latest(self) -> dt.date | None:
        return max((segment.latest for segment in self.segments if segment.latest), default=None)

    def sum_counts(self, count: str) -> int:
        """Return a count summed over all segments, including hidden papers. `count` is `dated`, `full_texts`,
        `with_references` or `passages`."""
        return sum(getattr(segment, count) for segment in self.segments)

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in (*self.files, *(file for segment in self.segments for file in segment.files)))


def count_rejections(rejections: Iterable[RejectedLine]) -> tuple[RejectionCount, ...]:
    """Count rejections by reason, most frequent first."""
    reasons = Counter(rejection.reason for rejection in rejections).most_common()
    return tuple(RejectionCount(reason=reason, count=count) for reason, count in reasons)


def read_manifest(directory: Path) -> Manifest:
    """Read the manifest in a version's directory. Raises CorpusError if it is missing, is in another format, belongs to
    another version, or has changed since it was written."""
    return read_sealed(directory, Manifest)


class EmbeddedWith(Protocol):
    """Manifest, or another description of a version, that names the embedding model."""

    @property
    def embedder(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def lexical(self) -> bool: ...


def check_embedder(manifest: EmbeddedWith, embedder: Embedder, directory: Path) -> None:
    """Check that the corpus was built with the embedder's model. Raises CorpusError if it was not, or if the corpus has
    lexical weights and the embedder provides none. A corpus without weights accepts any embedder for its model."""
    # Compare the name first, because reading the dimensions may download and load the model.
    if manifest.embedder != embedder.name or manifest.dimensions != embedder.dimensions:
        raise CorpusError(
            f"The corpus in {directory} was built with the embedding model {manifest.embedder} "
            f"({manifest.dimensions} dimensions), but the configured model is {embedder.name}.",
            "Configure that model (ASSAYER_EMBEDDER__MODEL), or rebuild the corpus: assayer corpus build PATH.",
        )
    if manifest.lexical and not isinstance(embedder, LexicalEmbedder):
        raise CorpusError(
            f"The corpus in {directory} was built with the lexical weights of {manifest.embedder}, which the "
            "configured embedder does not provide.",
            "Set ASSAYER_EMBEDDER__LIBRARY=FlagEmbedding, or rebuild the corpus: assayer corpus build PATH.",
        )


OfKind = TypeVar("OfKind", bound=SealedManifest)


class OtherFormatError(CorpusError):
    """Raised if a version is from a different release, or is sharded if an unsharded one is expected, or vice versa."""


def write_sealed(manifest: SealedManifest, directory: Path) -> None:
    """Write the manifest with its checksum in a separate file."""
    content = (manifest.model_dump_json(indent=1) + "\n").encode()
    (directory / MANIFEST).write_bytes(content)
    (directory / SEAL_FILE).write_text(_seal_line(content), "ascii")


def read_sealed(directory: Path, kind: type[OfKind]) -> OfKind:
    """Read a manifest and check its checksum. Raises OtherFormatError if it is in another format, and CorpusError if it
    is missing, belongs to another version, or has changed since it was written."""
    path = directory / MANIFEST
    try:
        content = path.read_bytes()
        manifest = kind.model_validate_json(content)
    except OSError:
        raise CorpusError(f"The corpus version in {directory} has no readable manifest.", REBUILD_HINT) from None
    except ValidationError as error:
        if any(problem["loc"] == ("format",) for problem in error.errors()):
            raise OtherFormatError(
                f"The corpus in {directory} was built by a different release of assayer, in a different format.",
                REBUILD_HINT,
            ) from None
        raise CorpusError(f"The corpus is damaged: {path} cannot be read.", REBUILD_HINT) from None
    if not _is_sealed(directory, content):
        raise CorpusError(f"The corpus is damaged: {path} has changed since it was written.", REBUILD_HINT)
    if manifest.version != directory.name:
        raise CorpusError(
            f"The corpus is damaged: {path} is from version {manifest.version}, but its folder is {directory.name}.",
            REBUILD_HINT,
        )
    return manifest


def _is_sealed(directory: Path, content: bytes) -> bool:
    try:
        return (directory / SEAL_FILE).read_text("ascii") == _seal_line(content)
    except (OSError, UnicodeDecodeError):
        return False


def _seal_line(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()}  {MANIFEST}\n"
