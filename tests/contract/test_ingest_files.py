"""Ingest of files as a process and in the library: bad records, killed runs, and places that are no folders."""

import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from assayer.errors import InputError
from benchmarks.simulator.datasets.process import SimulatedDatasets
from benchmarks.simulator.datasets.server import KEY
from cluster.corpora.ingest import ingest_jsonl, ingest_s2_files
from cluster.settings import IngestSettings, Settings
from index.disk_access import folder_lock
from index.ingest import IngestSummary
from tests.contract.ingested import FIRST, SECOND, deletions, ignore, read, s2_must

_PROGRAM = "from cluster.cli.main import main; main()"
LIMITS = Settings(ingest=IngestSettings(partitions=3, memory_mb=512))


def _lines(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    return path


def _paper(number: int, **more: object) -> dict[str, object]:
    return {"id": f"p{number}", "title": f"Paper {number}", "abstract": f"About {number}.", **more}


async def _ingest(to: Path, *files: Path) -> IngestSummary:
    return await ingest_jsonl(str(to), [str(file) for file in files], LIMITS, ignore)


def _titles(folder: Path) -> dict[str, str]:
    return {record.id: record.title for record, _ in read(folder)}


async def test_bad_records_are_set_aside_with_their_lines_and_the_good_ones_kept(tmp_path: Path) -> None:
    file = tmp_path / "papers.jsonl"
    good = [json.dumps(_paper(n)).encode() for n in range(3)]
    unusable = [b'{"id": "x"', b'{"id": "y", "title": "T"}', b'{"title": "T", "abstract": "A"}', b'{"id": "caf\xe9"}']
    file.write_bytes(b"\n".join([*good, *unusable, good[0]]) + b"\n")
    summary = await _ingest(tmp_path / "to", file)
    assert _titles(tmp_path / "to" / "records") == {f"p{n}": f"Paper {n}" for n in range(3)}
    assert {one.reason: one.count for one in summary.rejected} == {
        "not valid JSON": 1,
        "abstract is missing": 1,
        "id is missing": 1,
        "not UTF-8": 1,
        "duplicate id": 1,
    }
    (listed,) = (tmp_path / "to").glob("raw/jsonl/*/rejected.jsonl")
    told = [json.loads(line) for line in listed.read_text().splitlines()]
    assert [(one["line"], one["reason"]) for one in told] == [
        (4, "not valid JSON"),
        (5, "abstract is missing"),
        (6, "id is missing"),
        (7, "not UTF-8"),
    ]


async def test_a_truncated_gzip_gives_what_came_before_its_end(tmp_path: Path) -> None:
    whole = gzip.compress(
        "".join(f"{json.dumps(_paper(n, venue=os.urandom(20).hex()))}\n" for n in range(500)).encode()
    )
    file = tmp_path / "papers.jsonl.gz"
    file.write_bytes(whole[: len(whole) // 2])
    summary = await _ingest(tmp_path / "to", file)
    assert 0 < summary.records < 500
    reasons = {one.reason for one in summary.rejected}
    assert "the compressed file is damaged or cut off here" in reasons


async def test_a_later_file_replaces_what_an_earlier_one_said_of_a_paper(tmp_path: Path) -> None:
    first = _lines(tmp_path / "first.jsonl", *(_paper(n) for n in range(4)))
    await _ingest(tmp_path / "to", first)
    second = _lines(tmp_path / "second.jsonl", _paper(1, title="Renamed"), _paper(9))
    summary = await _ingest(tmp_path / "to", second)
    assert _titles(tmp_path / "to" / "upserts") == {"p1": "Renamed", "p9": "Paper 9"}
    assert (summary.upserts, summary.deletions) == (2, 0)
    assert _titles(tmp_path / "to" / "records") == {
        "p0": "Paper 0", "p1": "Renamed", "p2": "Paper 2", "p3": "Paper 3", "p9": "Paper 9",
    }  # fmt: skip


async def test_of_files_given_together_the_last_one_counts(tmp_path: Path) -> None:
    files = [_lines(tmp_path / f"{name}.jsonl", _paper(1, title=f"In {name}")) for name in ("b", "a")]
    await _ingest(tmp_path / "to", *files, files[1])
    assert _titles(tmp_path / "to" / "records") == {"p1": "In a"}


async def test_a_number_that_no_vector_can_hold_is_no_end_of_the_file(tmp_path: Path) -> None:
    file = _lines(tmp_path / "papers.jsonl", _paper(1, vector=[10**400, 1]), _paper(2, vector=[1e300]), _paper(3))
    await _ingest(tmp_path / "to", file)
    assert _titles(tmp_path / "to" / "records").keys() == {"p1", "p2", "p3"}


async def test_a_run_beside_another_is_refused(tmp_path: Path) -> None:
    file = _lines(tmp_path / "papers.jsonl", _paper(1))
    (tmp_path / "to").mkdir()
    with folder_lock(tmp_path / "to"), pytest.raises(InputError, match="Another run is at work"):
        await _ingest(tmp_path / "to", file)


async def test_deletions_are_not_listed_while_a_run_is_cut_off(tmp_path: Path) -> None:
    """What was in the list before would not fit the upserts that are there already."""
    to, file = tmp_path / "to", tmp_path / "papers.jsonl"
    await _ingest(to, _lines(file, *(_paper(n) for n in range(9))))
    await _ingest(to, _lines(file, *(_paper(n) for n in range(8))))
    assert deletions(to) == {"p8"}
    parts = sorted((to / "records").iterdir())
    parts[-1].with_name(f"{parts[-1].name}.partial").mkdir()  # its partition cannot be joined
    with pytest.raises(InputError, match="failed"):
        await _ingest(to, _lines(file, *(_paper(n) for n in range(1, 9))))
    assert not (to / "deletions.txt").exists()
    parts[-1].with_name(f"{parts[-1].name}.partial").rmdir()
    await _ingest(to, file)
    assert deletions(to) == {"p0"}


async def test_a_change_rewrites_only_the_partitions_that_it_touches(tmp_path: Path) -> None:
    await _ingest(tmp_path / "to", _lines(tmp_path / "first.jsonl", *(_paper(n) for n in range(30))))
    parts = sorted((tmp_path / "to" / "records").iterdir())
    before = {part: part.stat().st_ino for part in parts}
    await _ingest(tmp_path / "to", _lines(tmp_path / "second.jsonl", _paper(1, title="Renamed")))
    assert sum(part.stat().st_ino != before[part] for part in parts) == 1


async def test_a_folder_of_another_origin_is_refused(tmp_path: Path) -> None:
    await _ingest(tmp_path / "to", _lines(tmp_path / "papers.jsonl", _paper(1)))
    with pytest.raises(InputError, match="holds papers from jsonl"):
        await ingest_s2_files(str(tmp_path / "to"), str(tmp_path), "", LIMITS, ignore)


async def test_a_folder_that_somebody_uses_for_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "holiday.jpg").touch()
    with pytest.raises(InputError, match="something else"):
        await _ingest(tmp_path / "to", _lines(tmp_path / "papers.jsonl", _paper(1)))


async def test_any_file_system_can_hold_the_files(tmp_path: Path) -> None:
    address = f"memory://{uuid4().hex}"
    file = _lines(tmp_path / "papers.jsonl", *(_paper(n) for n in range(5)))
    await ingest_jsonl(address, [str(file)], LIMITS, ignore)
    file = _lines(tmp_path / "more.jsonl", _paper(2, title="Renamed"))
    await ingest_jsonl(address, [str(file)], LIMITS, ignore)
    for stage in ("records", "upserts"):
        fsspec.filesystem("memory").get(f"{address}/{stage}", str(tmp_path / stage), recursive=True)
    assert _titles(tmp_path / "records") == {f"p{n}": "Renamed" if n == 2 else f"Paper {n}" for n in range(5)}
    assert _titles(tmp_path / "upserts") == {"p2": "Renamed"}


def test_a_full_disk_is_told_in_a_sentence_and_the_next_run_finishes(tmp_path: Path) -> None:
    file = _lines(tmp_path / "papers.jsonl", *(_paper(n, venue=os.urandom(500).hex()) for n in range(500)))
    command = [sys.executable, "-c", _PROGRAM, "corpus", "ingest", "jsonl", str(file), "--to", str(tmp_path / "to")]
    limited = ["bash", "-c", f"ulimit -f 8; exec {shlex.join(command)}"]
    given = {**os.environ, "ASSAYER_INGEST__PARTITIONS": "2"}
    failed = subprocess.run(limited, env=given, capture_output=True, text=True, timeout=200, check=False)
    assert failed.returncode == 2, failed.stderr
    assert "failed: File too large" in failed.stderr
    subprocess.run(command, env=given, capture_output=True, timeout=200, check=True)
    assert len(_titles(tmp_path / "to" / "records")) == 500


@pytest.fixture
def services() -> Iterator[SimulatedDatasets]:
    with SimulatedDatasets() as running:
        yield running


def _program(services: SimulatedDatasets, to: Path, jobs: int) -> "subprocess.Popen[str]":
    given = {
        "ASSAYER_S2__BASE_URL": services.base_url,
        "ASSAYER_S2__API_KEY": KEY,
        "ASSAYER_S2__SPACING_SECONDS": "0",
        "ASSAYER_FETCHING__ALLOW": "127.0.0.0/8",
        "ASSAYER_INGEST__PARTITIONS": "4",
        "ASSAYER_INGEST__JOBS": str(jobs),
    }
    datasets = "papers,abstracts,citations,s2orc,embeddings-specter_v2"
    command = [sys.executable, "-c", _PROGRAM, "corpus", "ingest", "s2", "--to", str(to), "--datasets", datasets]
    return subprocess.Popen(
        command, env={**os.environ, **given}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _kill_at(program: "subprocess.Popen[str]", to: Path, pattern: str, count: int) -> None:
    """As soon as that many files are there; one that has ended before is none the worse."""
    while len(list(to.glob(pattern))) < count:
        try:
            program.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        break
    program.send_signal(signal.SIGKILL)
    program.communicate(timeout=60)


def _finished(services: SimulatedDatasets, to: Path, jobs: int) -> str:
    program = _program(services, to, jobs)
    output, _ = program.communicate(timeout=200)
    assert program.returncode == 0, output
    return output


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_was_killed_at_any_point_is_finished_by_the_next(
    services: SimulatedDatasets, tmp_path: Path, jobs: int
) -> None:
    for pattern, count in (("raw/*/*/source.json", 3), ("raw/*/*/source.json", 9), ("records/*.parquet", 2)):
        program = _program(services, tmp_path, jobs)
        _kill_at(program, tmp_path, pattern, count)
    _finished(services, tmp_path, jobs)
    assert {record.id for record, _ in read(tmp_path / "records")} == s2_must(FIRST.papers.values()).keys()
    assert not list(tmp_path.rglob("*.partial"))
    assert not (tmp_path / ".incoming").exists()


def test_a_diff_that_was_killed_loses_none_of_its_changes(services: SimulatedDatasets, tmp_path: Path) -> None:
    _finished(services, tmp_path, 1)
    services.turn(2)
    program = _program(services, tmp_path, 1)
    _kill_at(program, tmp_path, "upserts/*.parquet", 2)
    _finished(services, tmp_path, 1)
    before, after = s2_must(FIRST.papers.values()), s2_must(SECOND.papers.values())
    assert {record.id for record, _ in read(tmp_path / "upserts")} == {
        one for one, told in after.items() if before.get(one) != told
    }
    assert set((tmp_path / "deletions.txt").read_text().split()) == before.keys() - after.keys()
