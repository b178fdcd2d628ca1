"""Asks where a folder of ingest has its papers from for what has changed."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from assayer.errors import InputError
from cluster.settings import Settings

if TYPE_CHECKING:
    from index.ingest import IngestSummary
    from index.versions.manifest import RejectionCount

__all__ = ["S2_DATASETS", "Wanted", "fetch_changes"]

S2_DATASETS = "papers,abstracts,citations"


class Wanted(NamedTuple):
    """What the folder does not say itself."""

    datasets: tuple[str, ...]
    """Of Semantic Scholar."""
    subjects: str
    """A set of arXiv's; empty for all."""


async def fetch_changes(folder: Path, wanted: Wanted | None, settings: Settings) -> "tuple[RejectionCount, ...]":
    """Tells what was set aside. None `wanted`, and of papers that came from files: nobody is asked. Raises InputError
    for a folder that ingest did not make."""
    if wanted is None:
        return ()
    summary = await _ingest(folder, wanted, settings)
    return summary.rejected if summary else ()


async def _ingest(folder: Path, wanted: Wanted, settings: Settings) -> "IngestSummary | None":
    from cluster.ingesting import ingest_arxiv, ingest_openalex, ingest_s2_release

    match _origin(folder):
        case "s2":
            return await ingest_s2_release(str(folder), "latest", wanted.datasets, settings, _unseen)
        case "arxiv":
            return await ingest_arxiv(str(folder), None, None, wanted.subjects, settings, _unseen)
        case "openalex":
            return await ingest_openalex(str(folder), None, [], settings, _unseen)
        case _:
            return None


def _origin(folder: Path) -> str:
    from index.ingest import Holding

    path = folder / "ingest.json"
    try:
        return Holding.model_validate_json(path.read_bytes()).origin
    except (OSError, ValidationError):
        raise InputError(
            f"{folder} is not a folder that ingest made: {path.name} is missing or cannot be read.",
            "Make one with assayer corpus ingest, or give --no-fetch to take upserts/ and deletions.txt as they are.",
        ) from None


def _unseen(stage: str, done: int, total: int) -> None:
    """Nobody watches at night; the report tells how long it took."""
