"""Shared helpers of ingest tests: settings for the simulated services, expected records, and records written."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import SecretStr

from cluster.settings import IngestSettings, Settings
from index.records.parquet_records import RecordWithVector, list_parquet_files, read_records
from simulator.datasets.editions import Edition, EditionPaper
from simulator.datasets.process import SimulatedDatasets
from simulator.datasets.s2_lines import compute_embedding, split_into_sections
from simulator.datasets.server import KEY
from simulator.outside.library import Library
from simulator.outside.sample import SAMPLE
from workers.fetching.settings import FetchingSettings, TransferSettings
from workers.outbound.source_settings import ArxivSettings, SemanticScholarSettings

_LIBRARY = Library(SAMPLE)
FIRST, SECOND = Edition(_LIBRARY, 1), Edition(_LIBRARY, 2)

ComparedFields = dict[str, tuple[object, ...]]
"""Compared fields of records, by id."""


def build_settings(services: SimulatedDatasets, partitions: int = 4, **transfers: object) -> Settings:
    limits = TransferSettings.model_validate({"backoff_initial": 0.0} | transfers)
    return Settings(
        s2=SemanticScholarSettings(base_url=services.base_url, api_key=SecretStr(KEY), spacing_seconds=0.0),
        arxiv=ArxivSettings(spacing_seconds=0.0),
        fetching=FetchingSettings(allow=("127.0.0.0/8",)),
        ingest=IngestSettings(
            partitions=partitions, memory_mb=512, arxiv_url=f"{services.base_url}/oai", transfers=limits
        ),
    )


def ignore(_stage: str, _done: int, _total: int) -> None:
    """Ignore the progress."""


def read(folder: Path) -> list[RecordWithVector]:
    rows = [row for part in list_parquet_files(folder) for _, row in read_records(part)]
    assert all(isinstance(row, RecordWithVector) for row in rows), "every record that ingest writes is valid"
    return [row for row in rows if isinstance(row, RecordWithVector)]


def read_upserts(folder: Path) -> list[RecordWithVector]:
    return read(folder / "upserts")


def read_deletions(folder: Path) -> set[str]:
    return set((folder / "deletions.txt").read_text().split())


def build_expected_s2_records(papers: Iterable[EditionPaper]) -> ComparedFields:
    """Return the expected records of Semantic Scholar: texts, names, references, sections and vectors."""
    records: ComparedFields = {}
    for paper in papers:
        entry = paper.entry
        cited_ids = sorted(reference.corpus_id for reference in paper.references)
        records[f"CorpusId:{entry.corpus_id}"] = (
            entry.record.title,
            paper.abstract,
            entry.record.authors,
            entry.record.publication_date,
            entry.record.venue,
            (entry.doi, entry.arxiv, entry.s2, entry.acl),
            {f"CorpusId:{item}" for item in cited_ids} or None,
            tuple(split_into_sections(paper)),
            tuple(compute_embedding(entry.corpus_id, paper.abstract)),
        )
    return records
