"""What has changed since the version at hand, and where it is read from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from assayer.errors import InputError
from assayer.models import PaperId
from index.records import PaperRecord
from index.sources import Rejection, SourceFile, describe, harvest

__all__ = ["Delta", "read_delta"]


@dataclass(frozen=True)
class Delta:
    upserts: Sequence[PaperRecord]
    """Whole records, each id once."""
    deletions: Collection[PaperId] = ()
    sources: tuple[SourceFile, ...] = ()
    rejections: Sequence[Rejection] = ()


def read_delta(upserts: Sequence[Path], deletions: Path | None = None) -> Delta:
    """From files of records, and one of ids, one a line. Raises InputError for a file that cannot be used, and for
    papers that are in both."""
    if not upserts and deletions is None:
        raise InputError("There is nothing to update with.", "Give files of paper records, or --remove with ids.")
    sources = tuple(describe(path) for path in upserts)
    found = harvest(upserts)
    gone = _ids(deletions) if deletions else []
    both = [one for one in gone if one in found.records]
    if both:
        raise InputError(
            f"{len(both)} papers are to be removed and have a record, the first: {both[0]}.",
            f"Take them out of {deletions}, or out of the records.",
        )
    return Delta(list(found.records.values()), gone, sources, found.rejections)


def _ids(path: Path) -> list[PaperId]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}.") from None
    ids = list(dict.fromkeys(PaperId(line.strip()) for line in lines if line.strip()))
    if not ids:
        raise InputError(f"{path} holds no id.", "Write one a line.")
    return ids
