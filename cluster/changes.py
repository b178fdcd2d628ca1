"""Asks where a folder of ingest has its papers from for what has changed."""

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from assayer.errors import InputError
from cluster.settings import Settings

if TYPE_CHECKING:
    from index.ingest import Holding, IngestSummary
    from index.versions.manifest import RejectionCount

__all__ = ["fetch_changes"]


async def fetch_changes(folder: Path, settings: Settings) -> "tuple[RejectionCount, ...]":
    """Of the datasets, the set or the manifest that the folder was made from; nobody is asked for papers that came from
    files. Tells what was set aside. Raises InputError for a folder that ingest did not make, or not to its end."""
    holding = _holding(folder)
    if not holding.built:
        raise InputError(f"The first ingest into {folder} has not ended.", "Run assayer corpus ingest again.")
    summary = await _ingest(folder, holding.origin, settings)
    return summary.rejected if summary else ()


async def _ingest(folder: Path, origin: str, settings: Settings) -> "IngestSummary | None":
    from cluster.ingesting import ingest_arxiv, ingest_openalex, ingest_s2_release

    match origin:
        case "s2":
            return await ingest_s2_release(str(folder), "latest", (), settings, _unseen)
        case "arxiv":
            return await ingest_arxiv(str(folder), None, None, None, settings, _unseen)
        case "openalex":
            return await ingest_openalex(str(folder), None, [], settings, _unseen)
        case _:
            return None


def _holding(folder: Path) -> "Holding":
    from index.ingest import Holding

    path = folder / "ingest.json"
    try:
        return Holding.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise InputError(
            f"{folder} is not a folder that ingest made: {path.name} is missing or cannot be read.",
            "Make one with assayer corpus ingest, or give --no-fetch to take upserts/ and deletions.txt as they are.",
        ) from None


def _unseen(stage: str, done: int, total: int) -> None:
    """Nobody watches at night; the report tells how long it took."""
