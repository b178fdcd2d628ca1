"""Builds and nights that publish: nothing that was not published is lost, and nothing that others published."""

import datetime as dt
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import CorpusError
from assayer.models import PaperId
from cluster.cli.corpus_nightly import history
from cluster.corpus_source import CorpusRelease
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from index import Delta, VersionStore, build_corpus, read_manifest, update_corpus
from index.building.version_builder import BuildOptions
from index.nightly import NightlyHistory, NightlyUpdate, find_pending_changes
from index.object_storage.publications import PublicationConflict, PublicationLog
from index.object_storage.publishing import CorpusPublisher
from index.object_storage.storage import ObjectStorage, StorageUnavailable
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWriter
from index.versions.manifest import RejectionCount
from index.versions.verification_cache import VerificationCache
from tests.contract.published_corpora import EMBEDDER
from tests.corpus_papers import RECORDS, record, write_jsonl


def _build_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return the settings of a machine that shares a bucket with others."""
    monkeypatch.setenv("ASSAYER_HOME", str(folder))
    monkeypatch.setenv("ASSAYER_CORPUS__SOURCE", (folder.parent / "bucket").as_uri())
    return load_settings()


def _get_published_version(settings: Settings) -> str:
    newest = PublicationLog(ObjectStorage(str(settings.corpus.source))).read_newest()
    return newest.current.version if newest else ""


def _raise_unavailable() -> None:
    raise StorageUnavailable("The store is away.")


@pytest.fixture
def first_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    return _build_settings(tmp_path / "first", monkeypatch)


@pytest.fixture
def second_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    return _build_settings(tmp_path / "second", monkeypatch)


@pytest.fixture(autouse=True)
async def version(first_machine: Settings, tmp_path: Path) -> str:
    """The version that the first machine built and published."""
    release = CorpusRelease(first_machine)
    release.begin()
    await build_corpus([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], first_machine.corpus_path, EMBEDDER)
    return release.publish().version


async def _update(settings: Settings, *numbers: int) -> str:
    delta = Delta([PaperRecord.model_validate(record(number)) for number in numbers])
    return (await update_corpus(delta, settings.corpus_path, EMBEDDER)).manifest.version


def _write_upserts(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    (path / "upserts").mkdir(parents=True)
    with RecordWriter(path / "upserts" / "part-00000.parquet") as file:
        for item in records:
            file.write(PaperRecord.model_validate(item))
    return path


async def _run_night(settings: Settings, changes: Path, publish: Any = None) -> str:
    async def fetch() -> tuple[RejectionCount, ...]:
        return ()

    release = CorpusRelease(settings)
    night = NightlyUpdate(
        settings.corpus_path,
        changes,
        EMBEDDER,
        lambda: dt.datetime.now(dt.UTC),
        BuildOptions(),
        prepare=partial(release.begin_update, repeats=True),
        publish=publish or release.publish,
    )
    return (await night.run(fetch)).after


async def test_update_starts_from_the_published_version(
    first_machine: Settings, second_machine: Settings, version: str
) -> None:
    release = CorpusRelease(second_machine)
    release.begin_update()
    assert VersionStore(second_machine.corpus_path).read_current_version() == version
    newer = await _update(second_machine, 40)
    assert release.publish().version == newer == _get_published_version(first_machine)
    again = CorpusRelease(first_machine)
    again.begin_update()
    assert VersionStore(first_machine.corpus_path).read_current_version() == newer


async def test_conflicting_update_is_rejected_and_published_version_survives(
    first_machine: Settings, second_machine: Settings
) -> None:
    first_release, second_release = CorpusRelease(first_machine), CorpusRelease(second_machine)
    first_release.begin_update()
    second_release.begin_update()
    await _update(first_machine, 40)
    newer = await _update(second_machine, 41)
    second_release.publish()
    with pytest.raises(PublicationConflict, match="Nothing was changed"):
        first_release.publish()
    assert _get_published_version(first_machine) == newer
    with pytest.raises(CorpusError, match="was built here and never published"):
        CorpusRelease(first_machine).begin_update()
    assert CorpusRelease(first_machine).publish().published, "whoever asks for it by hand publishes over the other"


async def test_next_update_starts_from_unpublished_local_build(first_machine: Settings) -> None:
    CorpusRelease(first_machine).begin_update()
    await _update(first_machine, 40)
    unpublished = await _update(first_machine, 41)
    CorpusRelease(first_machine).begin_update()
    assert VersionStore(first_machine.corpus_path).read_current_version() == unpublished


async def test_failed_publish_keeps_changes_pending_for_next_nightly_update(
    first_machine: Settings, version: str, tmp_path: Path
) -> None:
    changes = _write_upserts(tmp_path / "changes", [record(40)])
    with pytest.raises(StorageUnavailable):
        await _run_night(first_machine, changes, _raise_unavailable)
    assert _get_published_version(first_machine) == version
    assert find_pending_changes(changes)
    newer = await _run_night(first_machine, changes)
    assert newer == _get_published_version(first_machine) != version
    assert not find_pending_changes(changes)


async def test_failed_bucket_check_is_recorded_in_nightly_history(
    first_machine: Settings, version: str, tmp_path: Path
) -> None:
    changes = _write_upserts(tmp_path / "changes", [record(40)])
    next_publication = tmp_path / "bucket" / "published" / "000000000002.json"
    next_publication.write_text("{")
    with pytest.raises(CorpusError):
        await _run_night(first_machine, changes)
    (night,) = NightlyHistory(first_machine.corpus_path).list_runs()
    assert (night.outcome, night.before, night.after) == ("failed", version, version)
    assert night.why
    assert find_pending_changes(changes)
    next_publication.unlink()
    assert await _run_night(first_machine, changes) != version


async def test_nightly_update_on_new_machine_pulls_corpus_and_records_failure(
    first_machine: Settings, second_machine: Settings, version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = _write_upserts(tmp_path / "changes", [record(40)])
    bucket = tmp_path / "bucket"
    bucket.rename(tmp_path / "away")
    with pytest.raises(CorpusError, match="There is no corpus"):
        await _run_night(second_machine, changes)
    (night,) = NightlyHistory(second_machine.corpus_path).list_runs()
    assert (night.outcome, night.before, night.papers) == ("failed", "", 0)
    history()
    assert "failed" in capsys.readouterr().out
    (tmp_path / "away").rename(bucket)
    newer = await _run_night(second_machine, changes)
    assert newer == _get_published_version(first_machine) != version
    *_, night = NightlyHistory(second_machine.corpus_path).list_runs()
    assert (night.outcome, night.before, night.after) == ("published", version, newer)


async def test_nightly_update_starts_from_version_published_by_another_machine(
    first_machine: Settings, second_machine: Settings, tmp_path: Path
) -> None:
    changes = _write_upserts(tmp_path / "changes", [record(40)])
    with pytest.raises(StorageUnavailable):
        await _run_night(first_machine, changes, _raise_unavailable)
    await _run_night(second_machine, _write_upserts(tmp_path / "others", [record(41), record(42)]))
    await _run_night(first_machine, changes)
    assert _get_published_version(first_machine) == VersionStore(first_machine.corpus_path).read_current_version()
    CorpusRelease(second_machine).begin_update()
    assert read_manifest(VersionStore(second_machine.corpus_path).find_current_path()).papers == len(RECORDS) + 3


async def _publish_ahead(settings: Settings, first: int, count: int) -> str:
    """Publish `count` further versions, two days apart; return the last."""
    now = dt.datetime.now(dt.UTC)
    for number in range(first, first + count):
        CorpusRelease(settings).begin_update()
        await _update(settings, number)
        now += dt.timedelta(days=2)
        publisher = CorpusPublisher(str(settings.corpus.source), lambda: now)  # noqa: B023 # called in this turn
        version = publisher.publish(settings.corpus_path, VerificationCache(settings.verified_path)).version
    return version


@pytest.mark.parametrize(("pulled", "is_noted"), [(True, True), (False, False)])
async def test_publishing_a_superseded_version_is_rejected_and_update_pulls_newest(
    first_machine: Settings, second_machine: Settings, version: str, pulled: bool, is_noted: bool
) -> None:
    """Whether it was pulled or published from here; without a note, as releases before left it, by the log."""
    CorpusRelease(second_machine).begin_update()
    old, other = (second_machine, first_machine) if pulled else (first_machine, second_machine)
    newest = await _publish_ahead(other, 40, 5)
    log = PublicationLog(ObjectStorage(str(first_machine.corpus.source))).read_newest()
    assert log is not None
    assert log.find(version) is None
    if is_noted:
        for number in range(1, 5):
            ObjectStorage(str(first_machine.corpus.source)).remove(f"published/{number:012d}.json")
    else:
        (old.corpus_path / "exchanged").unlink()

    with pytest.raises(CorpusError, match=f"Version {version} .* was already published .* by version {newest}:"):
        CorpusRelease(old).publish()
    assert _get_published_version(old) == newest
    pull = CorpusRelease(old).begin_update()
    assert pull is not None
    assert VersionStore(old.corpus_path).read_current_version() == pull.version == newest


async def test_old_version_is_published_again_only_with_force(
    first_machine: Settings, second_machine: Settings, version: str
) -> None:
    newest = await _publish_ahead(second_machine, 40, 1)
    with pytest.raises(CorpusError, match="take every reader back to it") as caught:
        CorpusRelease(first_machine).publish()
    assert "--force" in caught.value.hint
    assert _get_published_version(first_machine) == newest
    assert CorpusRelease(first_machine).publish(force=True).version == version == _get_published_version(first_machine)


async def test_update_that_restores_an_old_version_is_published(first_machine: Settings, version: str) -> None:
    """An update that undoes the previous one leaves the earlier version, in a corpus with a single segment."""
    release = CorpusRelease(first_machine)
    release.begin_update()
    await _update(first_machine, 40)
    release.publish()
    CorpusRelease(first_machine).begin_update()
    back = await update_corpus(Delta([], [PaperId("bee-40")]), first_machine.corpus_path, EMBEDDER)
    assert back.manifest.version == version, "else this test shows nothing"
    CorpusRelease(first_machine).begin_update()
    assert VersionStore(first_machine.corpus_path).read_current_version() == version, "it is still to be published"
    assert CorpusRelease(first_machine).publish().version == version == _get_published_version(first_machine)
