"""arXiv's OAI-PMH service and the OpenAlex bucket over HTTP: what they hold arrives, and so does what changes."""

import datetime as dt
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from assayer.errors import InputError, SourceMalformed, SourceRefused
from cluster.corpora.ingest import ingest_arxiv, ingest_openalex
from index.ingest.pipeline import IngestSummary
from simulator.datasets.editions import Edition
from simulator.datasets.process import SimulatedDatasets
from simulator.datasets.server import FAULTS
from tests.contract.ingested import FIRST, SECOND, build_settings, ignore, read, read_deletions, read_upserts

SEPTEMBER, NOVEMBER = dt.date(2026, 9, 1), dt.date(2026, 11, 20)


@pytest.fixture(scope="module")
def faulty_services() -> Iterator[SimulatedDatasets]:
    with SimulatedDatasets(faults=FAULTS) as running:
        yield running


@pytest.fixture
def services(faulty_services: SimulatedDatasets) -> SimulatedDatasets:
    faulty_services.reset()
    return faulty_services


def _build_expected_arxiv_records(edition: Edition) -> dict[str, tuple[str, str, bool]]:
    return {
        f"arxiv:{edition_paper.entry.arxiv}": (
            edition_paper.entry.record.title,
            edition_paper.abstract,
            edition_paper.entry.notice is not None and edition_paper.entry.notice.kind == "withdrawn",
        )
        for edition_paper in edition.papers.values()
        if edition_paper.entry.arxiv
    }


def _build_expected_openalex_records(edition: Edition) -> dict[str, tuple[str, set[str] | None]]:
    return {
        f"openalex:{edition_paper.entry.openalex}": (
            edition_paper.abstract,
            {f"openalex:{reference.openalex}" for reference in edition_paper.references} or None,
        )
        for edition_paper in edition.papers.values()
        if edition_paper.entry.corpus_id % 200
    }


def _read_arxiv_records(folder: Path) -> dict[str, tuple[str, str, bool]]:
    return {record.id: (record.title, record.abstract, record.retracted) for record, _ in read(folder)}


def _read_openalex_records(folder: Path) -> dict[str, tuple[str, set[str] | None]]:
    return {
        record.id: (record.abstract, None if record.references is None else set(record.references))
        for record, _ in read(folder)
    }


async def _harvest(
    folder: Path, services: SimulatedDatasets, since: dt.date | None, until: dt.date | None = None
) -> IngestSummary:
    return await ingest_arxiv(str(folder), since, until, "", build_settings(services), ignore)


async def test_next_harvest_resumes_after_the_last_and_lists_deletions(
    services: SimulatedDatasets, tmp_path: Path
) -> None:
    await _harvest(tmp_path, services, SEPTEMBER, dt.date(2026, 10, 31))
    assert _read_arxiv_records(tmp_path / "records") == _build_expected_arxiv_records(FIRST)
    services.change_edition(2)
    await _harvest(tmp_path, services, None, NOVEMBER)
    before, after = _build_expected_arxiv_records(FIRST), _build_expected_arxiv_records(SECOND)
    assert _read_arxiv_records(tmp_path / "records") == after
    assert _read_arxiv_records(tmp_path / "upserts") == {
        item: fields for item, fields in after.items() if before.get(item) != fields
    }
    assert read_deletions(tmp_path) == before.keys() - after.keys()


@pytest.mark.slow
async def test_backward_harvest_leaving_a_gap_is_rejected(services: SimulatedDatasets, tmp_path: Path) -> None:
    october = dt.date(2026, 10, 1)
    await _harvest(tmp_path, services, october, dt.date(2026, 10, 31))
    before = read(tmp_path / "records")
    with pytest.raises(InputError, match=r"between 2026-09-10 and 2026-10-01, the first day of this folder.*09-30"):
        await _harvest(tmp_path, services, SEPTEMBER, dt.date(2026, 9, 10))
    assert read(tmp_path / "records") == before
    await _harvest(tmp_path, services, SEPTEMBER, dt.date(2026, 9, 30))
    assert _read_arxiv_records(tmp_path / "records") == _build_expected_arxiv_records(FIRST)


async def test_interrupted_first_harvest_is_resumed(services: SimulatedDatasets, tmp_path: Path) -> None:
    with pytest.raises(SourceRefused):
        await ingest_arxiv(str(tmp_path), SEPTEMBER, NOVEMBER, "", build_settings(services, answer_bytes=10), ignore)
    await _harvest(tmp_path, services, SEPTEMBER, dt.date(2026, 10, 31))
    assert _read_arxiv_records(tmp_path / "records") == _build_expected_arxiv_records(FIRST)


async def test_folder_keeps_its_original_arxiv_set(services: SimulatedDatasets, tmp_path: Path) -> None:
    async def harvest(subjects: str | None) -> IngestSummary:
        return await ingest_arxiv(str(tmp_path), SEPTEMBER, NOVEMBER, subjects, build_settings(services), ignore)

    await harvest("cs")
    assert (await harvest(None)).taken == 0
    for category in ("math", ""):
        with pytest.raises(InputError, match="contains arXiv's set cs, not"):
            await harvest(category)


async def test_next_snapshot_yields_changes_and_deletions(services: SimulatedDatasets, tmp_path: Path) -> None:
    manifest = f"{services.base_url}/openalex/works/manifest.json"
    await ingest_openalex(str(tmp_path), manifest, [], build_settings(services), ignore)
    assert _read_openalex_records(tmp_path / "records") == _build_expected_openalex_records(FIRST)
    services.change_edition(2)
    await ingest_openalex(str(tmp_path), manifest, [], build_settings(services), ignore)
    before, after = _build_expected_openalex_records(FIRST), _build_expected_openalex_records(SECOND)
    assert _read_openalex_records(tmp_path / "records") == after
    assert {record.id for record, _ in read_upserts(tmp_path)} == {
        item for item, fields in after.items() if before.get(item) != fields
    }
    assert read_deletions(tmp_path) == before.keys() - after.keys()


async def test_works_merged_in_an_older_snapshot_are_removed(services: SimulatedDatasets, tmp_path: Path) -> None:
    merged_id = next(iter(_build_expected_openalex_records(FIRST)))
    merged = tmp_path / "merged.csv.gz"
    merged.write_bytes(
        gzip.compress(f"merge_date,id,merge_into_id\n2026-01-01,{merged_id.split(':')[1]},W1\n".encode())
    )
    manifest = f"{services.base_url}/openalex/works/manifest.json"
    await ingest_openalex(str(tmp_path / "to"), manifest, [str(merged)], build_settings(services), ignore)
    assert _read_openalex_records(tmp_path / "to" / "records").keys() == _build_expected_openalex_records(
        FIRST
    ).keys() - {merged_id}
    merged.unlink()
    await ingest_openalex(str(tmp_path / "to"), None, [], build_settings(services), ignore)
    assert _read_openalex_records(tmp_path / "to" / "records").keys() == _build_expected_openalex_records(
        FIRST
    ).keys() - {merged_id}, "nor come they back"


@pytest.mark.slow
async def test_truncated_list_of_merged_ids_is_applied_and_reported(
    services: SimulatedDatasets, tmp_path: Path
) -> None:
    merged_id = next(iter(_build_expected_openalex_records(FIRST)))
    other_lines = "".join(f"2026-01-01,W{10**9 + number * 7919},W1\n" for number in range(20_000))
    compressed_merges = gzip.compress(
        f"merge_date,id,merge_into_id\n2026-01-01,{merged_id.split(':')[1]},W1\n{other_lines}".encode()
    )
    (merged := tmp_path / "merged.csv.gz").write_bytes(compressed_merges[: len(compressed_merges) // 2])
    manifest = f"{services.base_url}/openalex/works/manifest.json"
    summary = await ingest_openalex(str(tmp_path / "to"), manifest, [str(merged)], build_settings(services), ignore)
    assert _read_openalex_records(tmp_path / "to" / "records").keys() == _build_expected_openalex_records(
        FIRST
    ).keys() - {merged_id}
    assert "the compressed file is damaged or cut off here" in {item.reason for item in summary.rejected}


@pytest.mark.parametrize("url", ["s3://openalex/data/authors/part.gz", "s3://x/works/../../etc/passwd"])
async def test_manifest_naming_files_other_than_works_is_rejected(
    services: SimulatedDatasets, tmp_path: Path, url: str
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(f'{{"files": [{{"url": "{url}", "meta": {{"content_length": 1}}}}]}}')
    with pytest.raises(SourceMalformed, match="do not contain works"):
        await ingest_openalex(str(tmp_path / "to"), str(manifest), [], build_settings(services), ignore)
