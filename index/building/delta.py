"""What has changed since the version at hand, and where it is read from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assayer.errors import InputError
from assayer.models import PaperId
from assayer.ports import Embedder
from index.building.known import KnownVectors, ReadyVectors
from index.reading.records import PaperRecord
from index.reading.sources import Harvest, Rejection, SourceFile, describe

__all__ = ["Delta", "read_delta"]


@dataclass(frozen=True)
class Delta:
    upserts: Sequence[PaperRecord]
    """Whole records, each id once."""
    deletions: Collection[PaperId] = ()
    sources: tuple[SourceFile, ...] = ()
    rejections: Sequence[Rejection] = ()
    ready: KnownVectors = field(default_factory=lambda: KnownVectors([]))
    """Vectors that came with the records."""


def read_delta(upserts: Sequence[Path], deletions: Path | None = None, embedder: Embedder | None = None) -> Delta:
    """From sources of records, and a file of ids, one a line. Vectors that came with records must be of the embedder's
    model; without one they are left out. Raises InputError for what cannot be used, and for papers that are in both."""
    if not upserts and deletions is None:
        raise InputError("There is nothing to update with.", "Give files of paper records, or --remove with ids.")
    sources = tuple(describe(path) for path in upserts)
    harvest = Harvest(upserts, embedder)
    with ReadyVectors() as ready:
        records, vectors = list(ready.kept(harvest)), ready.known()
    gone = _ids(deletions) if deletions else []
    coming = {record.id for record in records}
    both = [one for one in gone if one in coming]
    if both:
        raise InputError(
            f"{len(both)} papers are to be removed and have a record, the first: {both[0]}.",
            f"Take them out of {deletions}, or out of the records.",
        )
    return Delta(records, gone, sources, harvest.rejections, vectors)


def _ids(path: Path) -> list[PaperId]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}.") from None
    ids = list(dict.fromkeys(PaperId(line.strip()) for line in lines if line.strip()))
    if not ids:
        raise InputError(f"{path} holds no id.", "Write one a line.")
    return ids
