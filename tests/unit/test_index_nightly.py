import datetime as dt
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import AssayerError, CorpusError, InputError
from assayer.models import PaperId
from index import BuildOptions, Corpus, ShardStore, VersionStore, build_corpus, build_shards, read_manifest
from index.building.acceptance import Acceptance
from index.building.update import Stopwatch
from index.disk_access import hold_folder_lock
from index.nightly import NightlyHistory, NightlyRun, NightlyUpdate, find_pending_changes
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWriter
from index.versions.manifest import RejectionCount
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
NOW = dt.datetime(2026, 11, 22, 3, 0, tzinfo=dt.UTC)


@pytest.fixture
async def directory(tmp_path: Path) -> Path:
    source = write_jsonl(tmp_path / "papers.jsonl", RECORDS)
    await build_corpus([source], tmp_path / "corpus", EMBEDDER)
    return tmp_path / "corpus"


def write_change_folder(path: Path, upserts: Sequence[dict[str, Any]], deletions: str = "") -> Path:
    (path / "upserts").mkdir(parents=True)
    (path / "deletions.txt").write_text(deletions)
    if upserts:
        with RecordWriter(path / "upserts" / "part-00000.parquet") as file:
            for upsert in upserts:
                file.write(PaperRecord.model_validate(upsert))
    return path


async def run_nightly_update(directory: Path, change: Path) -> NightlyRun:
    async def fetch() -> tuple[RejectionCount, ...]:
        return (RejectionCount(reason="no abstract", count=7),)

    return await NightlyUpdate(directory, change, EMBEDDER, lambda: NOW, BuildOptions(keep=3), usd_per_hour=3600).run(
        fetch
    )


async def test_nightly_update_publishes_changes_and_records_the_run(directory: Path, tmp_path: Path) -> None:
    before = VersionStore(directory).read_current_version()
    change = write_change_folder(
        tmp_path / "change", [record(20), record(21), record(3, title="Lichens")], "bee-07\nnobody\n"
    )
    completed_run = await run_nightly_update(directory, change)
    corpus = Corpus.open(directory, EMBEDDER)
    assert (completed_run.outcome, completed_run.before, completed_run.after) == ("published", before, corpus.version)
    assert (
        completed_run.papers,
        completed_run.new,
        completed_run.changed,
        completed_run.removed,
        completed_run.unknown,
    ) == (15, 2, 1, 1, 1)
    assert (completed_run.embedded, completed_run.began, len(corpus)) == (3, NOW, 15)
    assert [(item.reason, item.count) for item in completed_run.set_aside] == [("no abstract", 7)]
    assert not find_pending_changes(change)
    assert completed_run.usd == pytest.approx(completed_run.seconds)
    assert [stage.name for stage in completed_run.stages][:2] == ["fetch", "read"]
    assert NightlyHistory(directory).list_runs() == [completed_run]


async def test_nightly_update_of_sharded_corpus_publishes_the_whole_corpus(tmp_path: Path) -> None:
    directory = tmp_path / "corpus"
    await build_shards([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], 3, directory, EMBEDDER)
    before = ShardStore(directory).read_manifest().version
    completed_run = await run_nightly_update(
        directory, write_change_folder(tmp_path / "change", [record(20), record(21)], "bee-07\nnobody\n")
    )
    assert (completed_run.outcome, completed_run.before, completed_run.papers) == ("published", before, 15)
    assert (completed_run.new, completed_run.removed, completed_run.unknown, completed_run.after) == (
        2,
        1,
        1,
        ShardStore(directory).read_manifest().version,
    )
    with pytest.raises(CorpusError, match="would leave"):
        await run_nightly_update(
            directory, write_change_folder(tmp_path / "broken", [], "".join(f"bee-{n:02}\n" for n in range(12)))
        )
    assert ShardStore(directory).read_manifest().version == completed_run.after


async def test_nightly_update_without_changes_keeps_version_and_records_the_run(
    directory: Path, tmp_path: Path
) -> None:
    version = VersionStore(directory).read_current_version()
    empty = await run_nightly_update(directory, write_change_folder(tmp_path / "empty", []))
    unchanged_run = await run_nightly_update(
        directory, write_change_folder(tmp_path / "known", [record(3)], "nobody\n")
    )
    assert [item.outcome for item in (empty, unchanged_run)] == ["unchanged"] * 2
    assert (
        {item.after for item in (empty, unchanged_run)} == {version} == {VersionStore(directory).read_current_version()}
    )
    assert (unchanged_run.unchanged, unchanged_run.unknown) == (1, 1)
    assert NightlyHistory(directory).list_runs(last=1) == [unchanged_run]


@pytest.mark.parametrize("cause", ["unreadable", "mostly gone", "damaged", "in use"])
async def test_failed_nightly_update_keeps_previous_version_and_reports_reason(
    directory: Path, tmp_path: Path, cause: str
) -> None:
    versions = VersionStore(directory)
    version, change = versions.read_current_version(), write_change_folder(tmp_path / "change", [record(20)])
    if cause == "unreadable":
        (change / "upserts" / "part-00001.parquet").write_bytes(b"PAR1")
    if cause == "mostly gone":
        (change / "deletions.txt").write_text("\n".join(f"bee-{number:02}" for number in range(9)))
    if cause == "damaged":
        (segment,) = read_manifest(versions.find_current_path()).segments
        path = versions.get_segment_path(segment.name) / "ids.npy"
        path.write_bytes(path.read_bytes()[:-1] + b"\0")
    build_lock = versions.hold_build_lock() if cause == "in use" else nullcontext()
    with build_lock, pytest.raises(AssayerError) as caught:
        await run_nightly_update(directory, change)
    (nightly_run,) = NightlyHistory(directory).list_runs()
    assert (nightly_run.outcome, nightly_run.why) == ("failed", str(caught.value))
    assert {nightly_run.before, nightly_run.after, versions.read_current_version()} == {version}
    assert [path.name for path in (directory / "versions").iterdir()] == [version]
    assert find_pending_changes(change)


async def test_nightly_update_succeeds_after_excessive_deletions_are_removed(directory: Path, tmp_path: Path) -> None:
    """Segments that were written for a version that was refused are used again."""
    change = write_change_folder(
        tmp_path / "change", [record(20)], "\n".join(f"bee-{number:02}" for number in range(9))
    )
    with pytest.raises(CorpusError, match="would leave only 6 of 14 papers"):
        await run_nightly_update(directory, change)
    (change / "deletions.txt").write_text("")
    assert (await run_nightly_update(directory, change)).papers == 15


async def test_nightly_update_without_corpus_records_nothing(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="There is no corpus"):
        await run_nightly_update(tmp_path / "nowhere", write_change_folder(tmp_path / "change", [record(20)]))
    assert not (tmp_path / "nowhere").exists()


async def test_acceptance_rejects_version_still_returning_removed_papers(directory: Path) -> None:
    manifest = read_manifest(VersionStore(directory).find_current_path())
    with pytest.raises(CorpusError, match=r"still contains removed papers \(1, for example bee-03\)"):
        await Acceptance(EMBEDDER, 14, [PaperId("bee-03"), PaperId("nobody")])(directory, manifest)


async def test_acceptance_rejects_version_with_papers_not_found_by_title(tmp_path: Path) -> None:
    """Titles of one letter are words to nobody here."""
    source = write_jsonl(tmp_path / "papers.jsonl", [record(n, title=chr(ord("A") + n)) for n in range(50)])
    manifest = (await build_corpus([source], tmp_path / "corpus", EMBEDDER)).manifest
    with pytest.raises(CorpusError, match="papers cannot be found by their titles"):
        await Acceptance(EMBEDDER, 50)(tmp_path / "corpus", manifest)


async def test_acceptance_allows_a_tenth_of_papers_not_found(tmp_path: Path) -> None:
    """Ten of the fifty are sought, this one among them."""
    papers = [record(n, title="[" if n == 35 else f"{chr(ord('a') + n % 26) * (3 + n)} in orchards") for n in range(50)]
    manifest = (await build_corpus([write_jsonl(tmp_path / "papers.jsonl", papers)], tmp_path / "c", EMBEDDER)).manifest
    await Acceptance(EMBEDDER, 50)(tmp_path / "c", manifest)


def test_history_skips_truncated_line(tmp_path: Path) -> None:
    first, second = (
        NightlyRun(began=NOW, seconds=1, outcome="unchanged", before="a", after="a", papers=papers) for papers in (1, 2)
    )
    history = NightlyHistory(tmp_path)
    assert history.list_runs() == []
    history.append(first)
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write(first.model_dump_json()[:30])
    history.append(second)
    assert history.list_runs() == [first, second]


def test_history_distinguishes_running_from_interrupted_updates(tmp_path: Path) -> None:
    history, next_day = NightlyHistory(tmp_path), NOW + dt.timedelta(days=1)
    killed, finished, running = (
        NightlyRun(began=began, outcome="unchanged", before="a", after="a", papers=1)
        for began in (NOW, next_day, next_day + dt.timedelta(days=1))
    )
    history.append(killed.model_copy(update={"outcome": "running"}))
    with history.record_run(finished):
        history.append(finished)
    assert [night.outcome for night in history.list_runs()] == ["cut off", "unchanged"]
    with history.record_run(running):
        assert [night.outcome for night in history.list_runs()] == ["cut off", "unchanged", "running"]
        with pytest.raises(InputError, match="Another run is using"), history.record_run(running):
            pass
    assert [night.outcome for night in history.list_runs()] == ["cut off", "unchanged", "cut off"]
    assert all(night.why for night in history.list_runs() if night.outcome == "cut off")


async def test_nightly_update_is_refused_while_ingest_runs(directory: Path, tmp_path: Path) -> None:
    change = write_change_folder(tmp_path / "change", [record(20)])
    with hold_folder_lock(change), pytest.raises(InputError, match="Another run is using"):
        await run_nightly_update(directory, change)
    assert find_pending_changes(change)


async def test_nightly_update_keeps_deletions_not_yet_listed_by_ingest(directory: Path, tmp_path: Path) -> None:
    change = write_change_folder(tmp_path / "change", [record(20)])
    (change / "deletions.txt").unlink()
    (change / "deletions").mkdir()
    (change / "deletions" / "part-00000.txt").write_text("bee-03\n")
    assert (await run_nightly_update(directory, change)).new == 1
    assert (change / "deletions" / "part-00000.txt").exists()
    assert not (change / "upserts").exists()


async def test_missing_change_folder_or_non_utf8_deletions_are_rejected(directory: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder"):
        await run_nightly_update(directory, tmp_path / "nowhere")
    (change := write_change_folder(tmp_path / "change", []) / "deletions.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"deletions\.txt cannot be read: it is not UTF-8"):
        await run_nightly_update(directory, change.parent)


def test_stopwatch_sums_stages_with_the_same_name() -> None:
    ticks = iter([0.0, 1.0, 3.0, 10.0, 14.0, 20.0])
    watch = Stopwatch(lambda: next(ticks))
    with watch.stage("write"):
        pass
    with pytest.raises(KeyError), watch.stage("write"):
        raise KeyError
    assert [(stage.name, stage.seconds) for stage in watch.stages] == [("write", 6.0)]
    assert watch.seconds == 20.0
