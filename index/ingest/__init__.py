"""From what others publish to paper records in Parquet: streaming, resumable, out of core.

Stage one takes each source file in on its own (`intake`); stage two joins them by partitions (`joining`);
`ingesting` decides what is missing and what has changed. The network comes in as a `Transport`.
"""

from index.ingest.arxiv_harvest import ArxivHarvest
from index.ingest.ingesting import Holding, Ingest, IngestOptions, IngestSummary
from index.ingest.intake import Source
from index.ingest.openalex_snapshot import OpenAlexFiles
from index.ingest.s2_service import S2Datasets, S2Files
from index.ingest.supply import Files, Supply, Transport, s2_files
from index.ingest.tables import JoinLimits

__all__ = [
    "ArxivHarvest",
    "Files",
    "Holding",
    "Ingest",
    "IngestOptions",
    "IngestSummary",
    "JoinLimits",
    "OpenAlexFiles",
    "S2Datasets",
    "S2Files",
    "Source",
    "Supply",
    "Transport",
    "s2_files",
]
