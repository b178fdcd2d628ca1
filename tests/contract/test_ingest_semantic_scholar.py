"""Semantic Scholar's datasets over HTTP: a full release, then a diff, with everything that goes wrong on the way."""

import gzip
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import SecretStr

from assayer.errors import ConfigurationError, InputError, SourceRefused, SourceUnavailable
from cluster.corpora.ingest import ingest_s2_files, ingest_s2_release
from cluster.settings import Settings
from index.ingest.pipeline import IngestSummary
from index.records.parquet_records import RecordWithVector
from simulator.datasets.editions import RELEASES
from simulator.datasets.process import SimulatedDatasets
from simulator.datasets.s2_lines import compare_editions
from simulator.datasets.server import FAULTS
from tests.contract.ingested import (
    FIRST,
    SECOND,
    build_expected_s2_records,
    build_settings,
    ignore,
    read,
    read_deletions,
    read_upserts,
)

ALL = ("papers", "abstracts", "citations", "s2orc", "embeddings-specter_v2")


def _get_compared_fields(records: Iterable[RecordWithVector]) -> dict[str, tuple[object, ...]]:
    return {
        record.id: (
            record.title,
            record.abstract,
            record.authors,
            record.publication_date,
            record.venue,
            (record.identifiers.doi, record.identifiers.arxiv, record.identifiers.s2, record.identifiers.acl),
            None if record.references is None else set(record.references),
            tuple((section.title, section.text) for section in record.sections),
            None if vector is None else tuple(vector.values.tolist()),
        )
        for record, vector in records
    }


async def _ingest(folder: Path, ingest_settings: Settings, datasets: tuple[str, ...] = ALL) -> IngestSummary:
    return await ingest_s2_release(str(folder), "latest", datasets, ingest_settings, ignore)


async def test_full_release_is_ingested_completely(services: SimulatedDatasets, tmp_path: Path) -> None:
    summary = await _ingest(tmp_path, build_settings(services))
    records = read(tmp_path / "records")
    assert _get_compared_fields(records) == build_expected_s2_records(FIRST.papers.values())
    assert {vector.model for _, vector in records if vector} == {"allenai/specter2"}
    assert (summary.records, summary.upserts, summary.deletions, summary.rejected) == (len(FIRST.papers), 0, 0, ())


@pytest.mark.slow
async def test_expired_links_busy_servers_and_broken_downloads_are_recovered(tmp_path: Path) -> None:
    with SimulatedDatasets(faults=FAULTS) as services:
        await _ingest(tmp_path, build_settings(services))
        requests = services.count_requests()
    assert _get_compared_fields(read(tmp_path / "records")) == build_expected_s2_records(FIRST.papers.values())
    delivered = {path: count for path, count in requests.items() if path.startswith("delivered ")}
    assert set(delivered.values()) == {2}, "each file was broken off once and gone on with once"


async def test_a_second_run_fetches_no_file_and_changes_nothing(services: SimulatedDatasets, tmp_path: Path) -> None:
    await _ingest(tmp_path, build_settings(services))
    before = services.count_requests()
    summary = await _ingest(tmp_path, build_settings(services))
    fetched_paths = {path for path, count in services.count_requests().items() if count > before.get(path, 0)}
    assert not any(path.startswith("/s3/") for path in fetched_paths)
    assert (summary.taken, summary.parts) == (0, 0)


async def test_next_release_yields_upserts_and_deletions(services: SimulatedDatasets, tmp_path: Path) -> None:
    await _ingest(tmp_path, build_settings(services))
    services.change_edition(2)
    await _ingest(tmp_path, build_settings(services))
    before, after = build_expected_s2_records(FIRST.papers.values()), build_expected_s2_records(SECOND.papers.values())
    assert _get_compared_fields(read(tmp_path / "records")) == after
    assert _get_compared_fields(read_upserts(tmp_path)) == {
        item: fields for item, fields in after.items() if before.get(item) != fields
    }
    assert read_deletions(tmp_path) == before.keys() - after.keys()
    assert read_deletions(tmp_path)


@pytest.mark.slow
async def test_unconsumed_changes_survive_the_next_run(services: SimulatedDatasets, tmp_path: Path) -> None:
    await _ingest(tmp_path, build_settings(services))
    services.change_edition(2)
    await _ingest(tmp_path, build_settings(services))
    pending, deleted_ids = _get_compared_fields(read_upserts(tmp_path)), read_deletions(tmp_path)
    await _ingest(tmp_path, build_settings(services))
    assert (_get_compared_fields(read_upserts(tmp_path)), read_deletions(tmp_path)) == (pending, deleted_ids)


async def test_fields_of_unrequested_datasets_are_unknown(services: SimulatedDatasets, tmp_path: Path) -> None:
    await _ingest(tmp_path, build_settings(services), ("papers", "abstracts"))
    records = read(tmp_path / "records")
    assert len(records) == len(FIRST.papers)
    assert all(record.references is None and not record.sections and vector is None for record, vector in records)


@pytest.mark.slow
async def test_dataset_added_later_is_fetched_and_brought_up_to_date(
    services: SimulatedDatasets, tmp_path: Path
) -> None:
    await _ingest(tmp_path, build_settings(services), ("papers", "abstracts"))
    services.change_edition(2)
    await _ingest(tmp_path, build_settings(services))
    assert _get_compared_fields(read(tmp_path / "records")) == build_expected_s2_records(SECOND.papers.values())


async def test_files_of_a_known_release_are_updated_by_diffs(services: SimulatedDatasets, tmp_path: Path) -> None:
    for dataset in ALL:
        (tmp_path / "files" / dataset).mkdir(parents=True)
        lines = compare_editions(dataset, None, FIRST).updates
        packed = gzip.compress("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        (tmp_path / "files" / dataset / "part.gz").write_bytes(packed)
    target, ingest_settings = tmp_path / "to", build_settings(services)
    await ingest_s2_files(str(target), str(tmp_path / "files"), RELEASES[1], ingest_settings, ignore)
    assert _get_compared_fields(read(target / "records")) == build_expected_s2_records(FIRST.papers.values())
    services.change_edition(2)
    await _ingest(target, ingest_settings)
    assert _get_compared_fields(read(target / "records")) == build_expected_s2_records(SECOND.papers.values())


@pytest.mark.parametrize("releases", [("",), pytest.param((RELEASES[1], ""), marks=pytest.mark.slow)])
async def test_diff_on_files_of_an_unknown_release_is_rejected(
    services: SimulatedDatasets, tmp_path: Path, releases: tuple[str, ...]
) -> None:
    (tmp_path / "files" / "papers").mkdir(parents=True)
    (tmp_path / "files" / "papers" / "part.jsonl").write_text('{"corpusid": 1, "title": "T"}\n')
    for release in releases:
        await ingest_s2_files(str(tmp_path / "to"), str(tmp_path / "files"), release, build_settings(services), ignore)
    with pytest.raises(InputError, match="No release is recorded for the files"):
        await _ingest(tmp_path / "to", build_settings(services))


async def test_newer_s2orc_edition_wins_and_older_fills_gaps(services: SimulatedDatasets, tmp_path: Path) -> None:
    def build_full_text(layout: str, number: int, text: str) -> str:
        annotations = {"paragraph": json.dumps([{"start": 0, "end": len(text)}])}
        return json.dumps({"corpusid": number, layout: {"text": text, "annotations": annotations}}) + "\n"

    lines = {
        "papers": "".join(json.dumps({"corpusid": n, "title": "T"}) + "\n" for n in (1, 2)),
        "abstracts": "".join(json.dumps({"corpusid": n, "abstract": "A"}) + "\n" for n in (1, 2)),
        "s2orc": build_full_text("content", 1, "Older.") + build_full_text("content", 2, "Only here."),
        "s2orc_v2": build_full_text("body", 1, "Newer."),
    }
    for dataset, content in lines.items():
        (tmp_path / "files" / dataset).mkdir(parents=True)
        (tmp_path / "files" / dataset / "part.jsonl").write_text(content)
    await ingest_s2_files(str(tmp_path / "to"), str(tmp_path / "files"), "", build_settings(services), ignore)
    assert {record.id: record.sections[0].text for record, _ in read(tmp_path / "to" / "records")} == {
        "CorpusId:1": "Newer.",
        "CorpusId:2": "Only here.",
    }


async def test_folder_keeps_its_original_datasets(services: SimulatedDatasets, tmp_path: Path) -> None:
    await _ingest(tmp_path, build_settings(services), ("papers", "abstracts"))
    services.change_edition(2)
    await _ingest(tmp_path, build_settings(services), ())
    assert {path.name for path in (tmp_path / "raw").iterdir()} == {"papers", "abstracts"}
    assert {record.id for record, _ in read(tmp_path / "records")} == build_expected_s2_records(
        SECOND.papers.values()
    ).keys()


async def test_papers_without_abstracts_are_rejected_and_counted(services: SimulatedDatasets, tmp_path: Path) -> None:
    summary = await _ingest(tmp_path, build_settings(services), ("papers", "citations"))
    assert read(tmp_path / "records") == []
    assert [(item.reason, item.count) for item in summary.rejected] == [("abstract is missing", len(FIRST.papers))]


async def test_missing_api_key_is_rejected_before_any_request(services: SimulatedDatasets, tmp_path: Path) -> None:
    ingest_settings = build_settings(services)
    keyless = ingest_settings.model_copy(
        update={"s2": ingest_settings.s2.model_copy(update={"api_key": SecretStr("")})}
    )
    with pytest.raises(ConfigurationError, match="require an API key"):
        await _ingest(tmp_path, keyless)
    assert not any(path.startswith("/datasets/") for path in services.count_requests())


async def test_wrong_api_key_is_reported(services: SimulatedDatasets, tmp_path: Path) -> None:
    ingest_settings = build_settings(services)
    wrong = ingest_settings.model_copy(
        update={"s2": ingest_settings.s2.model_copy(update={"api_key": SecretStr("wrong")})}
    )
    with pytest.raises(SourceRefused, match="403") as caught:
        await _ingest(tmp_path, wrong)
    assert "key" in caught.value.hint


@pytest.mark.slow
async def test_interrupted_runs_against_a_busy_service_make_progress(tmp_path: Path) -> None:
    with SimulatedDatasets(faults=("busy",)) as services:
        summary = None
        while summary is None:
            with suppress(SourceUnavailable):
                summary = await _ingest(tmp_path, build_settings(services, attempts=1))
    assert _get_compared_fields(read(tmp_path / "records")) == build_expected_s2_records(FIRST.papers.values())


async def test_unknown_dataset_is_rejected_with_list_of_available_datasets(
    services: SimulatedDatasets, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="paperz") as caught:
        await _ingest(tmp_path, build_settings(services), ("papers", "paperz"))
    assert "abstracts" in caught.value.hint
