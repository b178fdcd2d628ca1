"""From what others publish to paper records in Parquet: streaming, resumable, out of core.

Stage one turns each source file into raw Parquet (`raw_files`); stage two joins the raw files by partitions
(`record_join`); `pipeline` decides what is missing and what has changed. A new source needs a format (`source_formats`)
and a way to fetch its files (`source_files`).
"""

from index.ingest.arxiv_oai import ArxivHarvest
from index.ingest.duckdb_tables import JoinLimits
from index.ingest.openalex_snapshot import OpenAlexFiles
from index.ingest.pipeline import Ingest, IngestOptions, IngestState, IngestSummary
from index.ingest.semantic_scholar_datasets import S2Datasets, S2Files
from index.ingest.source_files import IngestSource, IngestTransport, SourceAccess, StoredFiles, s2_dataset_files

__all__ = [
    "ArxivHarvest",
    "Ingest",
    "IngestOptions",
    "IngestSource",
    "IngestState",
    "IngestSummary",
    "IngestTransport",
    "JoinLimits",
    "OpenAlexFiles",
    "S2Datasets",
    "S2Files",
    "SourceAccess",
    "StoredFiles",
    "s2_dataset_files",
]
