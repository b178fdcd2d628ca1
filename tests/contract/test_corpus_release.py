"""Builds and nights that publish: nothing that was not published is lost, and nothing that others published."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import CorpusError
from cluster.corpus_source import CorpusRelease
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from index import Delta, VersionStore, build_corpus, read_manifest, update_corpus
from index.building.version_builder import BuildOptions
from index.nightly import NightlyUpdate, pending_changes
from index.object_storage.publications import PublicationLog, PublishedMeanwhile
from index.object_storage.storage import ObjectStorage, StorageUnavailable
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWriter
from index.versions.manifest import RejectionCount
from tests.contract.published_corpora import EMBEDDER
from tests.corpus_papers import RECORDS, record, write_jsonl


def _settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Of one of several machines that share a bucket."""
    monkeypatch.setenv("ASSAYER_HOME", str(folder))
    monkeypatch.setenv("ASSAYER_CORPUS__SOURCE", (folder.parent / "bucket").as_uri())
    return load_settings()


def _published(settings: Settings) -> str:
    newest = PublicationLog(ObjectStorage(str(settings.corpus.source))).newest()
    return newest.current.version if newest else ""


async def _first(settings: Settings, folder: Path) -> str:
    release = CorpusRelease(settings)
    release.begin()
    await build_corpus([write_jsonl(folder / "papers.jsonl", RECORDS)], settings.corpus_path, EMBEDDER)
    return release.publish().version


async def _update(settings: Settings, *numbers: int) -> str:
    delta = Delta([PaperRecord.model_validate(record(number)) for number in numbers])
    return (await update_corpus(delta, settings.corpus_path, EMBEDDER)).manifest.version


def _folder(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    (path / "upserts").mkdir(parents=True)
    with RecordWriter(path / "upserts" / "part-00000.parquet") as file:
        for one in records:
            file.write(PaperRecord.model_validate(one))
    return path


async def _night(settings: Settings, changes: Path, publish: Any = None) -> str:
    async def fetch() -> tuple[RejectionCount, ...]:
        return ()

    release = CorpusRelease(settings)
    release.begin_update(repeats=True)
    night = NightlyUpdate(
        settings.corpus_path, changes, EMBEDDER, lambda: dt.datetime.now(dt.UTC), BuildOptions(),
        publish=publish or release.publish,
    )  # fmt: skip
    return (await night.run(fetch)).after


async def test_update_begins_from_what_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (_settings(tmp_path / name, monkeypatch) for name in ("first", "second"))
    version = await _first(first, tmp_path)
    release = CorpusRelease(second)
    release.begin_update()
    assert VersionStore(second.corpus_path).current_version() == version
    newer = await _update(second, 40)
    assert release.publish().version == newer == _published(first)
    again = CorpusRelease(first)
    again.begin_update()
    assert VersionStore(first.corpus_path).current_version() == newer


async def test_two_updates_of_one_version_do_not_destroy_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (_settings(tmp_path / name, monkeypatch) for name in ("first", "second"))
    await _first(first, tmp_path)
    ours, theirs = CorpusRelease(first), CorpusRelease(second)
    ours.begin_update()
    theirs.begin_update()
    await _update(first, 40)
    newer = await _update(second, 41)
    theirs.publish()
    with pytest.raises(PublishedMeanwhile, match="Nothing there was changed"):
        ours.publish()
    assert _published(first) == newer
    with pytest.raises(CorpusError, match="was built here and never published, and somebody else has published"):
        CorpusRelease(first).begin_update()
    assert CorpusRelease(first).publish().published, "whoever asks for it by hand publishes over the other"


async def test_what_was_built_and_not_published_is_what_the_next_update_begins_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _settings(tmp_path / "first", monkeypatch)
    await _first(settings, tmp_path)
    CorpusRelease(settings).begin_update()
    await _update(settings, 40)
    unpublished = await _update(settings, 41)
    CorpusRelease(settings).begin_update()
    assert VersionStore(settings.corpus_path).current_version() == unpublished


async def test_night_that_cannot_publish_takes_no_change_and_the_next_one_publishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _settings(tmp_path / "first", monkeypatch)
    version = await _first(settings, tmp_path)
    changes = _folder(tmp_path / "changes", [record(40)])

    def away() -> None:
        raise StorageUnavailable("The store is away.")

    with pytest.raises(StorageUnavailable):
        await _night(settings, changes, away)
    assert _published(settings) == version
    assert pending_changes(changes)
    newer = await _night(settings, changes)
    assert newer == _published(settings) != version
    assert not pending_changes(changes)


async def test_night_overtaken_by_another_begins_from_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (_settings(tmp_path / name, monkeypatch) for name in ("first", "second"))
    await _first(first, tmp_path)
    changes = _folder(tmp_path / "changes", [record(40)])

    def away() -> None:
        raise StorageUnavailable("The store is away.")

    with pytest.raises(StorageUnavailable):
        await _night(first, changes, away)
    await _night(second, _folder(tmp_path / "others", [record(41), record(42)]))
    await _night(first, changes)
    assert _published(first) == VersionStore(first.corpus_path).current_version()
    CorpusRelease(second).begin_update()
    assert read_manifest(VersionStore(second.corpus_path).current_path()).papers == len(RECORDS) + 3
