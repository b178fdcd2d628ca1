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


def _settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return the settings of a machine that shares a bucket with others."""
    monkeypatch.setenv("ASSAYER_HOME", str(folder))
    monkeypatch.setenv("ASSAYER_CORPUS__SOURCE", (folder.parent / "bucket").as_uri())
    return load_settings()


def _published(settings: Settings) -> str:
    newest = PublicationLog(ObjectStorage(str(settings.corpus.source))).read_newest()
    return newest.current.version if newest else ""


def _away() -> None:
    raise StorageUnavailable("The store is away.")


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    return _settings(tmp_path / "first", monkeypatch)


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    return _settings(tmp_path / "second", monkeypatch)


@pytest.fixture(autouse=True)
async def version(first: Settings, tmp_path: Path) -> str:
    """The version that the first machine built and published."""
    release = CorpusRelease(first)
    release.begin()
    await build_corpus([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], first.corpus_path, EMBEDDER)
    return release.publish().version


async def _update(settings: Settings, *numbers: int) -> str:
    delta = Delta([PaperRecord.model_validate(record(number)) for number in numbers])
    return (await update_corpus(delta, settings.corpus_path, EMBEDDER)).manifest.version


def _folder(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    (path / "upserts").mkdir(parents=True)
    with RecordWriter(path / "upserts" / "part-00000.parquet") as file:
        for item in records:
            file.write(PaperRecord.model_validate(item))
    return path


async def _night(settings: Settings, changes: Path, publish: Any = None) -> str:
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


async def test_update_starts_from_the_published_version(first: Settings, second: Settings, version: str) -> None:
    release = CorpusRelease(second)
    release.begin_update()
    assert VersionStore(second.corpus_path).read_current_version() == version
    newer = await _update(second, 40)
    assert release.publish().version == newer == _published(first)
    again = CorpusRelease(first)
    again.begin_update()
    assert VersionStore(first.corpus_path).read_current_version() == newer


async def test_conflicting_update_is_rejected_and_published_version_survives(first: Settings, second: Settings) -> None:
    ours, theirs = CorpusRelease(first), CorpusRelease(second)
    ours.begin_update()
    theirs.begin_update()
    await _update(first, 40)
    newer = await _update(second, 41)
    theirs.publish()
    with pytest.raises(PublicationConflict, match="Nothing was changed"):
        ours.publish()
    assert _published(first) == newer
    with pytest.raises(CorpusError, match="was built here and never published"):
        CorpusRelease(first).begin_update()
    assert CorpusRelease(first).publish().published, "whoever asks for it by hand publishes over the other"


async def test_next_update_starts_from_unpublished_local_build(first: Settings) -> None:
    CorpusRelease(first).begin_update()
    await _update(first, 40)
    unpublished = await _update(first, 41)
    CorpusRelease(first).begin_update()
    assert VersionStore(first.corpus_path).read_current_version() == unpublished


async def test_failed_publish_keeps_changes_pending_for_next_nightly_update(
    first: Settings, version: str, tmp_path: Path
) -> None:
    changes = _folder(tmp_path / "changes", [record(40)])
    with pytest.raises(StorageUnavailable):
        await _night(first, changes, _away)
    assert _published(first) == version
    assert find_pending_changes(changes)
    newer = await _night(first, changes)
    assert newer == _published(first) != version
    assert not find_pending_changes(changes)


async def test_failed_bucket_check_is_recorded_in_nightly_history(
    first: Settings, version: str, tmp_path: Path
) -> None:
    changes = _folder(tmp_path / "changes", [record(40)])
    next_publication = tmp_path / "bucket" / "published" / "000000000002.json"
    next_publication.write_text("{")
    with pytest.raises(CorpusError):
        await _night(first, changes)
    (night,) = NightlyHistory(first.corpus_path).list_runs()
    assert (night.outcome, night.before, night.after) == ("failed", version, version)
    assert night.why
    assert find_pending_changes(changes)
    next_publication.unlink()
    assert await _night(first, changes) != version


async def test_nightly_update_on_new_machine_pulls_corpus_and_records_failure(
    first: Settings, second: Settings, version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = _folder(tmp_path / "changes", [record(40)])
    bucket = tmp_path / "bucket"
    bucket.rename(tmp_path / "away")
    with pytest.raises(CorpusError, match="There is no corpus"):
        await _night(second, changes)
    (night,) = NightlyHistory(second.corpus_path).list_runs()
    assert (night.outcome, night.before, night.papers) == ("failed", "", 0)
    history()
    assert "failed" in capsys.readouterr().out
    (tmp_path / "away").rename(bucket)
    newer = await _night(second, changes)
    assert newer == _published(first) != version
    *_, night = NightlyHistory(second.corpus_path).list_runs()
    assert (night.outcome, night.before, night.after) == ("published", version, newer)


async def test_nightly_update_starts_from_version_published_by_another_machine(
    first: Settings, second: Settings, tmp_path: Path
) -> None:
    changes = _folder(tmp_path / "changes", [record(40)])
    with pytest.raises(StorageUnavailable):
        await _night(first, changes, _away)
    await _night(second, _folder(tmp_path / "others", [record(41), record(42)]))
    await _night(first, changes)
    assert _published(first) == VersionStore(first.corpus_path).read_current_version()
    CorpusRelease(second).begin_update()
    assert read_manifest(VersionStore(second.corpus_path).find_current_path()).papers == len(RECORDS) + 3


async def _ahead(settings: Settings, first: int, count: int) -> str:
    """Publish `count` further versions, two days apart; return the last."""
    now = dt.datetime.now(dt.UTC)
    for number in range(first, first + count):
        CorpusRelease(settings).begin_update()
        await _update(settings, number)
        now += dt.timedelta(days=2)
        publisher = CorpusPublisher(str(settings.corpus.source), lambda: now)  # noqa: B023 # called in this turn
        version = publisher.publish(settings.corpus_path, VerificationCache(settings.verified_path)).version
    return version


@pytest.mark.parametrize(("pulled", "noted"), [(True, True), (False, False)])
async def test_publishing_a_superseded_version_is_rejected_and_update_pulls_newest(
    first: Settings, second: Settings, version: str, pulled: bool, noted: bool
) -> None:
    """Whether it was pulled or published from here; without a note, as releases before left it, by the log."""
    CorpusRelease(second).begin_update()
    old, other = (second, first) if pulled else (first, second)
    newest = await _ahead(other, 40, 5)
    log = PublicationLog(ObjectStorage(str(first.corpus.source))).read_newest()
    assert log is not None
    assert log.find(version) is None
    if noted:
        for number in range(1, 5):
            ObjectStorage(str(first.corpus.source)).remove(f"published/{number:012d}.json")
    else:
        (old.corpus_path / "exchanged").unlink()

    with pytest.raises(CorpusError, match=f"Version {version} .* was already published .* by version {newest}:"):
        CorpusRelease(old).publish()
    assert _published(old) == newest
    pull = CorpusRelease(old).begin_update()
    assert pull is not None
    assert VersionStore(old.corpus_path).read_current_version() == pull.version == newest


async def test_old_version_is_published_again_only_with_force(first: Settings, second: Settings, version: str) -> None:
    newest = await _ahead(second, 40, 1)
    with pytest.raises(CorpusError, match="take every reader back to it") as refused:
        CorpusRelease(first).publish()
    assert "--force" in refused.value.hint
    assert _published(first) == newest
    assert CorpusRelease(first).publish(force=True).version == version == _published(first)


async def test_update_that_restores_an_old_version_is_published(first: Settings, version: str) -> None:
    """An update that undoes the previous one leaves the earlier version, in a corpus with a single segment."""
    release = CorpusRelease(first)
    release.begin_update()
    await _update(first, 40)
    release.publish()
    CorpusRelease(first).begin_update()
    back = await update_corpus(Delta([], [PaperId("bee-40")]), first.corpus_path, EMBEDDER)
    assert back.manifest.version == version, "else this test shows nothing"
    CorpusRelease(first).begin_update()
    assert VersionStore(first.corpus_path).read_current_version() == version, "it is still to be published"
    assert CorpusRelease(first).publish().version == version == _published(first)
