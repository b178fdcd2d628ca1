"""A corpus in a bucket, as the installed program publishes, pulls, updates and tells of it: two machines, one store."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from index import VersionStore
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWriter
from tests.corpus_papers import record, write_jsonl
from tests.e2e.program import Ended, Homes, Program
from tests.object_store import object_store


class Machines(NamedTuple):
    address: str
    builder: Program
    reader: Program
    built: Ended
    found: Ended
    night: Ended
    told: Ended
    pulled: Ended


def _write_upserts(folder: Path, number: int) -> Path:
    (folder / "upserts").mkdir(parents=True)
    with RecordWriter(folder / "upserts" / "part-00000.parquet") as file:
        file.write(PaperRecord.model_validate(record(number)))
    return folder


@pytest.fixture(scope="module")
def machines(homes: Homes) -> Iterator[Machines]:
    with object_store() as store:
        address = f"{store.new_bucket()}/corpus"
        builder, reader = (_create_machine(homes, name, address) for name in ("bucket-builder", "bucket-reader"))
        papers = write_jsonl(builder.home / "papers.jsonl", [record(number) for number in range(12)])
        build = builder.run("corpus", "build", papers, "--shards", 2)
        search = reader.run("corpus", "search", "bees and flower strips", "--limit", 3)
        shutil.rmtree(builder.home / "corpus")  # as where a night begins on an empty disk
        night = builder.run("corpus", "nightly", _write_upserts(builder.home / "ingest", 20), "--no-fetch")
        info = reader.run("corpus", "info")
        yield Machines(address, builder, reader, build, search, night, info, reader.run("corpus", "pull"))


def _create_machine(homes: Homes, name: str, address: str) -> Program:
    program = homes.create_home(name)
    return program.with_settings(CORPUS__PATH=program.home / "corpus", CORPUS__SOURCE=address)


@pytest.mark.slow
def test_published_corpus_can_be_searched_on_another_machine(machines: Machines) -> None:
    assert (machines.built.code, machines.built.err) == (0, "")
    assert f"as number 1 in {machines.address}" in machines.built.out
    assert (machines.found.code, machines.found.err) == (0, "")
    assert "bee-00" in machines.found.out


@pytest.mark.slow
def test_nightly_update_publishes_new_version(machines: Machines) -> None:
    assert (machines.night.code, machines.night.err) == (0, "")
    assert "1 new, 0 changed" in machines.night.out
    assert "publish elsewhere" in machines.night.out
    assert not list((machines.builder.home / "ingest").glob("upserts"))


@pytest.mark.slow
def test_reader_lists_and_pulls_newest_published_version(machines: Machines) -> None:
    newest = VersionStore(machines.builder.home / "corpus").read_current_version()
    assert f"number 2: version {newest}" in machines.told.out
    assert "none of it (" in machines.told.out
    assert (machines.pulled.code, machines.pulled.err) == (0, "")
    assert f"Pulled: version {newest} with 13 papers" in machines.pulled.out
    assert "shared with earlier versions" in machines.pulled.out
    assert VersionStore(machines.reader.home / "corpus").read_current_version() == newest
    again = json.loads(machines.reader.run("corpus", "pull", "--json").out)
    assert (again["version"], again["papers"], again["files"]) == (newest, 13, 0)
    published = json.loads(machines.builder.run("corpus", "publish", "--json").out)["publication"]
    assert (published["number"], published["published"], published["address"]) == (2, False, machines.address)


@pytest.mark.slow
def test_doctor_reports_corpus_source(machines: Machines) -> None:
    result = machines.reader.run("doctor")
    assert f"with 13 papers in {machines.address}, published" in " ".join(result.out.split())


@pytest.mark.slow
def test_unreachable_corpus_source_is_reported_without_traceback(machines: Machines) -> None:
    reader_without_store = machines.reader.with_settings(CORPUS__SOURCE="s3://nobodys-bucket/corpus")
    reader_without_store = reader_without_store.with_settings(CORPUS__PATH=machines.reader.home / "another")
    result = reader_without_store.run("corpus", "search", "bees")
    assert result.code == 2
    assert "s3://nobodys-bucket/corpus" in result.err
    assert "Traceback" not in result.err


def test_publishing_without_corpus_source_names_missing_setting(homes: Homes) -> None:
    result = homes.create_home("bucket-nowhere").run("corpus", "publish")
    assert result.code == 2
    assert "ASSAYER_CORPUS__SOURCE" in result.err
