"""Ingest of files as a process and in the library: bad records, killed runs, and places that are no folders."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from assayer.errors import InputError
from cluster.corpora.ingest import ingest_jsonl, ingest_s2_files
from cluster.settings import IngestSettings, Settings
from index.disk_access import hold_folder_lock
from index.ingest.pipeline import IngestSummary
from simulator.datasets.process import SimulatedDatasets
from simulator.datasets.server import KEY
from tests.contract.ingested import FIRST, SECOND, build_expected_s2_records, ignore, read, read_deletions
from tests.fork_server import Piped, run_forked
from tests.polling import LONGEST_SECONDS, wait_until

_PROGRAM = "from cluster.cli.main import main; main()"
LIMITS = Settings(ingest=IngestSettings(partitions=3, memory_mb=512))


def _write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def _build_paper(number: int, **more: object) -> dict[str, object]:
    return {"id": f"p{number}", "title": f"Paper {number}", "abstract": f"About {number}.", **more}


async def _ingest(target: Path, *files: Path) -> IngestSummary:
    return await ingest_jsonl(str(target), [str(file) for file in files], LIMITS, ignore)


def _read_titles(folder: Path) -> dict[str, str]:
    return {record.id: record.title for record, _ in read(folder)}


async def test_bad_records_are_listed_by_line_and_good_records_kept(tmp_path: Path) -> None:
    file = tmp_path / "papers.jsonl"
    good = [json.dumps(_build_paper(n)).encode() for n in range(3)]
    unusable = [b'{"id": "x"', b'{"id": "y", "title": "T"}', b'{"title": "T", "abstract": "A"}', b'{"id": "caf\xe9"}']
    file.write_bytes(b"\n".join([*good, *unusable, good[0]]) + b"\n")
    summary = await _ingest(tmp_path / "to", file)
    assert _read_titles(tmp_path / "to" / "records") == {f"p{n}": f"Paper {n}" for n in range(3)}
    assert {item.reason: item.count for item in summary.rejected} == {
        "not valid JSON": 1,
        "abstract is missing": 1,
        "id is missing": 1,
        "not UTF-8": 1,
        "duplicate id": 1,
    }
    (rejected_file,) = (tmp_path / "to").glob("raw/jsonl/*/rejected.jsonl")
    rejections = [json.loads(line) for line in rejected_file.read_text().splitlines()]
    assert [(item["line"], item["reason"]) for item in rejections] == [
        (4, "not valid JSON"),
        (5, "abstract is missing"),
        (6, "id is missing"),
        (7, "not UTF-8"),
    ]


async def test_later_file_replaces_earlier_record_of_a_paper(tmp_path: Path) -> None:
    first = _write_lines(tmp_path / "first.jsonl", *(_build_paper(n) for n in range(4)))
    await _ingest(tmp_path / "to", first)
    second = _write_lines(tmp_path / "second.jsonl", _build_paper(1, title="Renamed"), _build_paper(9))
    summary = await _ingest(tmp_path / "to", second)
    assert _read_titles(tmp_path / "to" / "upserts") == {"p1": "Renamed", "p9": "Paper 9"}
    assert (summary.upserts, summary.deletions) == (2, 0)
    assert _read_titles(tmp_path / "to" / "records") == {
        "p0": "Paper 0", "p1": "Renamed", "p2": "Paper 2", "p3": "Paper 3", "p9": "Paper 9",
    }  # fmt: skip


async def test_last_file_wins_when_ingested_together(tmp_path: Path) -> None:
    files = [_write_lines(tmp_path / f"{name}.jsonl", _build_paper(1, title=f"In {name}")) for name in ("b", "a")]
    await _ingest(tmp_path / "to", *files, files[1])
    assert _read_titles(tmp_path / "to" / "records") == {"p1": "In a"}


async def test_concurrent_run_in_the_same_folder_is_rejected(tmp_path: Path) -> None:
    file = _write_lines(tmp_path / "papers.jsonl", _build_paper(1))
    (tmp_path / "to").mkdir()
    with hold_folder_lock(tmp_path / "to"), pytest.raises(InputError, match="Another run is using"):
        await _ingest(tmp_path / "to", file)


async def test_interrupted_run_withholds_the_deletions_list(tmp_path: Path) -> None:
    """The previous list of deletions would not fit the upserts already written."""
    target, file = tmp_path / "to", tmp_path / "papers.jsonl"
    await _ingest(target, _write_lines(file, *(_build_paper(n) for n in range(9))))
    await _ingest(target, _write_lines(file, *(_build_paper(n) for n in range(8))))
    assert read_deletions(target) == {"p8"}
    parts = sorted((target / "records").iterdir())
    parts[-1].with_name(f"{parts[-1].name}.partial").mkdir()  # its partition cannot be joined
    with pytest.raises(InputError, match="failed"):
        await _ingest(target, _write_lines(file, *(_build_paper(n) for n in range(1, 9))))
    assert not (target / "deletions.txt").exists()
    parts[-1].with_name(f"{parts[-1].name}.partial").rmdir()
    await _ingest(target, file)
    assert read_deletions(target) == {"p0"}


async def test_a_change_rewrites_only_the_partitions_that_it_touches(tmp_path: Path) -> None:
    await _ingest(tmp_path / "to", _write_lines(tmp_path / "first.jsonl", *(_build_paper(n) for n in range(30))))
    parts = sorted((tmp_path / "to" / "records").iterdir())
    before = {part: part.stat().st_ino for part in parts}
    await _ingest(tmp_path / "to", _write_lines(tmp_path / "second.jsonl", _build_paper(1, title="Renamed")))
    assert sum(part.stat().st_ino != before[part] for part in parts) == 1


async def test_a_folder_of_another_origin_is_refused(tmp_path: Path) -> None:
    await _ingest(tmp_path / "to", _write_lines(tmp_path / "papers.jsonl", _build_paper(1)))
    with pytest.raises(InputError, match="contains papers from jsonl"):
        await ingest_s2_files(str(tmp_path / "to"), str(tmp_path), "", LIMITS, ignore)


async def test_folder_with_unrelated_files_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "holiday.jpg").touch()
    with pytest.raises(InputError, match="neither empty nor an ingest folder"):
        await _ingest(tmp_path / "to", _write_lines(tmp_path / "papers.jsonl", _build_paper(1)))


async def test_ingest_works_on_an_in_memory_file_system(tmp_path: Path) -> None:
    address = f"memory://{uuid4().hex}"
    file = _write_lines(tmp_path / "papers.jsonl", *(_build_paper(n) for n in range(5)))
    await ingest_jsonl(address, [str(file)], LIMITS, ignore)
    file = _write_lines(tmp_path / "more.jsonl", _build_paper(2, title="Renamed"))
    await ingest_jsonl(address, [str(file)], LIMITS, ignore)
    for stage in ("records", "upserts"):
        fsspec.filesystem("memory").get(f"{address}/{stage}", str(tmp_path / stage), recursive=True)
    assert _read_titles(tmp_path / "records") == {f"p{n}": "Renamed" if n == 2 else f"Paper {n}" for n in range(5)}
    assert _read_titles(tmp_path / "upserts") == {"p2": "Renamed"}


@pytest.mark.slow
def test_file_size_limit_error_is_reported_and_next_run_completes(tmp_path: Path) -> None:
    file = _write_lines(tmp_path / "papers.jsonl", *(_build_paper(n, venue=os.urandom(500).hex()) for n in range(500)))
    command = [sys.executable, "-c", _PROGRAM, "corpus", "ingest", "jsonl", str(file), "--to", str(tmp_path / "to")]
    limited = ["bash", "-c", f"ulimit -f 8; exec {shlex.join(command)}"]
    environment = {**os.environ, "ASSAYER_INGEST__PARTITIONS": "2"}
    failed = subprocess.run(limited, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert failed.returncode == 2, failed.stderr
    assert "failed: File too large" in failed.stderr
    assert run_forked(command[3:], tmp_path, environment, LONGEST_SECONDS).code == 0
    assert len(_read_titles(tmp_path / "to" / "records")) == 500


def _build_command(services: SimulatedDatasets, target: Path, jobs: int) -> tuple[list[str], Path, dict[str, str]]:
    """Return the arguments, folder and environment of an ingest."""
    environment = {
        "ASSAYER_S2__BASE_URL": services.base_url,
        "ASSAYER_S2__API_KEY": KEY,
        "ASSAYER_S2__SPACING_SECONDS": "0",
        "ASSAYER_FETCHING__ALLOW": "127.0.0.0/8",
        "ASSAYER_INGEST__PARTITIONS": "4",
        "ASSAYER_INGEST__JOBS": str(jobs),
    }
    datasets = "papers,abstracts,citations,s2orc,embeddings-specter_v2"
    return (
        ["corpus", "ingest", "s2", "--to", str(target), "--datasets", datasets],
        target,
        {**os.environ, **environment},
    )


def _kill_at(services: SimulatedDatasets, target: Path, jobs: int, pattern: str, count: int) -> None:
    """Kill an ingest as soon as that many files exist; it may also have ended before."""
    with Piped(*_build_command(services, target, jobs)) as program:
        wait_until(lambda: program.poll() is not None or len(list(target.glob(pattern))) >= count)
        program.kill()
        program.communicate(LONGEST_SECONDS)


def _run_to_end(services: SimulatedDatasets, target: Path, jobs: int) -> str:
    result = run_forked(*_build_command(services, target, jobs), LONGEST_SECONDS)
    assert result.code == 0, result.err
    return result.out + result.err


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_run_killed_at_any_point_is_completed_by_the_next(
    services: SimulatedDatasets, tmp_path: Path, jobs: int
) -> None:
    for pattern, count in (("raw/*/*/source.json", 3), ("raw/*/*/source.json", 9), ("records/*.parquet", 2)):
        _kill_at(services, tmp_path, jobs, pattern, count)
    _run_to_end(services, tmp_path, jobs)
    assert {record.id for record, _ in read(tmp_path / "records")} == build_expected_s2_records(
        FIRST.papers.values()
    ).keys()
    assert not list(tmp_path.rglob("*.partial"))
    assert not (tmp_path / ".incoming").exists()


@pytest.mark.slow
def test_changes_survive_a_killed_diff(services: SimulatedDatasets, tmp_path: Path) -> None:
    _run_to_end(services, tmp_path, 1)
    services.change_edition(2)
    _kill_at(services, tmp_path, 1, "upserts/*.parquet", 2)
    _run_to_end(services, tmp_path, 1)
    before, after = build_expected_s2_records(FIRST.papers.values()), build_expected_s2_records(SECOND.papers.values())
    assert {record.id for record, _ in read(tmp_path / "upserts")} == {
        item for item, fields in after.items() if before.get(item) != fields
    }
    assert set((tmp_path / "deletions.txt").read_text().split()) == before.keys() - after.keys()
