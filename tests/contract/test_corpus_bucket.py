"""A corpus that is published in a store and pulled by others: the same answers, each file once, damage mended."""

import datetime as dt
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from assayer.errors import CorpusError
from assayer.models import OPEN
from index import Corpus, VersionStore
from index.hashing import FileChecksum, compute_checksum, verify_files
from index.object_storage.following import BucketOrigin, FollowedBucket
from index.object_storage.inventory import build_file_object_name
from index.object_storage.publications import PublicationConflict
from index.object_storage.publishing import PublishOptions
from index.object_storage.storage import ObjectStorage
from index.versions import verification_cache
from index.versions.manifest import MANIFEST, read_manifest, write_sealed
from tests.contract.published_corpora import EMBEDDER, Builder, create_reader, read_answers
from tests.object_store import KINDS, ObjectStore, empty_address


@pytest.fixture(params=[pytest.param(kind, marks=() if kind == "file" else pytest.mark.slow) for kind in KINDS])
def address(request: pytest.FixtureRequest, tmp_path: Path, store: ObjectStore) -> str:
    return empty_address(request.param, tmp_path, store)


@pytest.fixture
def bucket_address(tmp_path: Path) -> str:
    """An address in a folder, for what does not depend on the store."""
    return (tmp_path / "bucket").as_uri()


@pytest.fixture
def read_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what is read from any store."""
    seen_names: list[str] = []
    before = ObjectStorage.read_range

    def noting(self: ObjectStorage, name: str, start: int, end: int) -> bytes:
        seen_names.append(name)
        return before(self, name, start, end)

    monkeypatch.setattr(ObjectStorage, "read_range", noting)
    return seen_names


@pytest.mark.parametrize("shards", [0, 3])
async def test_published_corpus_gives_same_answers_after_pull(address: str, shards: int, tmp_path: Path) -> None:
    builder, origin = Builder(tmp_path / "builder", address, shards), create_reader(tmp_path / "reader", address)
    first = await builder.build()
    assert (builder.publish().number, origin.fetch("")) == (1, first)
    assert await read_answers(origin.copy.directory, first) == await read_answers(builder.directory, first)
    second = await builder.update(3, 40, 41)
    assert (builder.publish().number, origin.fetch("")) == (2, second)
    assert await read_answers(origin.copy.directory, second) == await read_answers(builder.directory, second)
    assert await read_answers(origin.copy.directory, first) == await read_answers(builder.directory, first)


async def test_next_version_transfers_only_new_files(
    bucket_address: str, tmp_path: Path, read_names: list[str]
) -> None:
    builder, origin = Builder(tmp_path / "builder", bucket_address), create_reader(tmp_path / "reader", bucket_address)
    await builder.build()
    first = builder.publish()
    origin.fetch("")
    assert (first.uploaded, len(set(read_names))) == (first.files, len(read_names)), "each file comes once"
    read_names.clear()
    await builder.update(40)
    second = builder.publish()
    origin.fetch("")
    assert 0 < second.uploaded < second.files
    assert len(read_names) <= second.uploaded, "what has the same content is linked"
    assert builder.publish().published is False
    read_names.clear()
    origin.fetch("")
    assert read_names == []


async def test_pulled_files_are_verified_once_on_a_machine(
    bucket_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder, origin = Builder(tmp_path / "builder", bucket_address), create_reader(tmp_path / "reader", bucket_address)
    await builder.release()
    read: list[str] = []

    def noting(files: Iterable[FileChecksum], directory: Path) -> None:
        file_list = list(files)
        read.extend(str(directory / file.path) for file in file_list)
        verify_files(file_list, directory)

    monkeypatch.setattr(verification_cache, "verify_files", noting)
    version = origin.fetch("")
    notes = verification_cache.VerificationCache(tmp_path / "reader" / "verified")
    Corpus.open(origin.copy.directory, EMBEDDER, version, notes).close()
    assert read == [], "what came was verified while it came, and another process believes the note"
    (stored,) = sorted((origin.copy.directory / "segments").glob("*/papers.arrow"))[:1]
    os.utime(stored)
    Corpus.open(origin.copy.directory, EMBEDDER, version, notes).close()
    assert read == [str(stored)]


async def test_reader_of_single_shard_pulls_only_that_shard(bucket_address: str, tmp_path: Path) -> None:
    builder = Builder(tmp_path / "builder", bucket_address, 3)
    version = await builder.release()
    one_shard = create_reader(tmp_path / "reader", bucket_address, [1])
    assert one_shard.fetch("") == version
    assert [path.name for path in (one_shard.copy.directory / "shards").iterdir()] == ["01"]
    assert one_shard.copy.holds(version, [1])
    assert not one_shard.copy.holds(version, [0, 1])
    beside = create_reader(tmp_path / "reader", bucket_address, [0])
    assert beside.get_newest_version() in ("", version)
    assert beside.fetch(version) == version
    await builder.release_update(40, 41, 42, 43)
    one_shard.fetch("")
    assert one_shard.copy.holds(version, [0]), "what others on this machine hold is not removed"


async def test_concurrent_publish_is_rejected_and_retry_succeeds(address: str, tmp_path: Path) -> None:
    first, second = Builder(tmp_path / "first", address), Builder(tmp_path / "second", address)
    origin = create_reader(tmp_path / "reader", address)
    await first.release()
    await second.build()
    number_before = second.publisher.read_newest_number()
    other_version, own_version = await first.update(40), await second.update(50)
    first.publish()
    with pytest.raises(PublicationConflict, match=f"number 2 .version {other_version}"):
        second.publish(after=number_before)
    assert origin.fetch("") == other_version
    assert second.publish().number == 3
    assert origin.fetch("") == own_version


async def test_expired_versions_are_removed_while_kept_versions_remain_readable(
    bucket_address: str, tmp_path: Path
) -> None:
    options = PublishOptions(keep=2, grace=dt.timedelta(hours=1))
    builder, late = (
        Builder(tmp_path / "builder", bucket_address, options=options),
        create_reader(tmp_path / "late", bucket_address),
    )
    versions = [await builder.release()]
    for number in (40, 41):
        versions.append(await builder.update(number))
        assert builder.publish().removed == 0
    assert late.fetch(versions[0]) == versions[0], "a slow reader still finds it"
    builder.clock.now += dt.timedelta(hours=2)
    versions.append(await builder.update(42))
    assert builder.publish().removed > 0, "the first was retired for longer than an hour"
    for kept_version in versions[1:]:
        origin = create_reader(tmp_path / f"of-{kept_version}", bucket_address)
        assert origin.fetch(kept_version) == kept_version
        assert await read_answers(origin.copy.directory, kept_version) == await read_answers(
            builder.directory, kept_version
        )
    with pytest.raises(CorpusError, match=f"Version {versions[0]} of the corpus in .* has been removed"):
        create_reader(tmp_path / "too-late", bucket_address).fetch(versions[0])


async def test_unreferenced_upload_is_kept_until_grace_period_ends(bucket_address: str, tmp_path: Path) -> None:
    builder = Builder(tmp_path / "builder", bucket_address, options=PublishOptions(keep=1, grace=dt.timedelta(hours=1)))
    await builder.release()
    storage = ObjectStorage(bucket_address)
    storage.write("files/aa/" + "a" * 64, b"of a version that is still being uploaded")
    await builder.release_update(40)
    assert storage.read("files/aa/" + "a" * 64)
    builder.clock.now += dt.timedelta(hours=2)
    await builder.release_update(41)
    assert not [item for item in storage.list_objects("files") if "a" * 64 in item.name]


async def test_file_damaged_on_disk_is_fetched_again(bucket_address: str, tmp_path: Path) -> None:
    builder, origin = Builder(tmp_path / "builder", bucket_address), create_reader(tmp_path / "reader", bucket_address)
    version = await builder.release()
    origin.fetch("")
    stored = next((origin.copy.directory / "segments").glob("*/papers.arrow"))
    good = compute_checksum(stored)
    stored.write_bytes(stored.read_bytes()[:-1] + b"?")
    assert origin.repair(version)
    assert compute_checksum(stored) == good
    assert not origin.repair(version)


async def test_file_damaged_in_bucket_is_reported_and_version_not_installed(
    bucket_address: str, tmp_path: Path
) -> None:
    builder, origin = Builder(tmp_path / "builder", bucket_address), create_reader(tmp_path / "reader", bucket_address)
    first = await builder.release()
    origin.fetch("")
    second = await builder.release_update(40)
    newest = max((tmp_path / "bucket" / "files").glob("*/*"), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(b"x" * newest.stat().st_size)
    with pytest.raises(CorpusError, match=rf"is damaged: files/../{newest.name} .* has changed since it was written"):
        origin.fetch(second)
    assert origin.copy.find_newest_version() == first
    newest.unlink()
    again = builder.publish()
    assert (again.published, again.uploaded) == (False, 1), "publishing again brings what is lost"
    assert origin.fetch(second) == second


async def test_full_disk_is_reported_before_any_download(
    bucket_address: str, tmp_path: Path, read_names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    builder, origin = Builder(tmp_path / "builder", bucket_address), create_reader(tmp_path / "reader", bucket_address)
    await builder.release()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(CorpusError, match=r"needs .* MiB more in .*, but only 0 MiB are free"):
        origin.fetch("")
    assert read_names == []


async def test_local_copy_keeps_only_recent_versions_and_versions_being_read(
    bucket_address: str, tmp_path: Path
) -> None:
    builder, origin = (
        Builder(tmp_path / "builder", bucket_address),
        create_reader(tmp_path / "reader", bucket_address, keep=1),
    )
    first = await builder.release()
    reading = Corpus.open(origin.copy.directory, EMBEDDER, origin.fetch(""))
    for number in (40, 41):
        last = await builder.release_update(number)
        origin.fetch("")
    version_names = {path.name for path in (origin.copy.directory / "versions").iterdir()}
    assert version_names == {first, last}
    reading.close()
    last = await builder.release_update(42)
    origin.fetch("")
    assert {path.name for path in (origin.copy.directory / "versions").iterdir()} == {last}
    assert await read_answers(origin.copy.directory, last) == await read_answers(builder.directory, last)


async def test_build_directory_serves_as_its_own_local_copy(bucket_address: str, tmp_path: Path) -> None:
    builder = Builder(tmp_path / "builder", bucket_address)
    version = await builder.release()
    verified = verification_cache.VerificationCache(tmp_path / "verified")
    origin = BucketOrigin(FollowedBucket(bucket_address), builder.directory, verified)
    assert origin.fetch("") == version
    with VersionStore(builder.directory).hold_build_lock():
        assert BucketOrigin(FollowedBucket(bucket_address), builder.directory, verified).fetch("") == version


async def test_unsharded_corpus_is_rejected_in_a_sharded_directory(bucket_address: str, tmp_path: Path) -> None:
    origin = create_reader(tmp_path / "reader", bucket_address)
    for shards in (2, 0):
        builder = Builder(tmp_path / f"builder-{shards}", bucket_address, shards)
        await builder.release()
        if shards:
            origin.fetch("")
    with pytest.raises(CorpusError, match=r"is sharded, but the one in file://.* is not"):
        origin.fetch("")


async def test_lost_file_list_causes_full_upload_and_removes_nothing(bucket_address: str, tmp_path: Path) -> None:
    builder = Builder(tmp_path / "builder", bucket_address, options=PublishOptions(keep=1, grace=dt.timedelta(hours=1)))
    await builder.release()
    (version_name,) = ObjectStorage(bucket_address).list_names("versions")
    ObjectStorage(bucket_address).remove(f"versions/{version_name}")
    builder.clock.now += dt.timedelta(hours=2)
    await builder.update(40)
    summary = builder.publish()
    assert (summary.uploaded, summary.removed) == (summary.files, 0)


async def test_losing_publisher_of_same_version_leaves_winner_readable(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two builds of one version differ in what they say of themselves."""
    first, second = Builder(tmp_path / "first", address), Builder(tmp_path / "second", address)
    version = await first.build()
    assert await second.build() == version
    manifest = second.directory / "versions" / version / MANIFEST
    sealed = read_manifest(manifest.parent)
    write_sealed(sealed.model_copy(update={"sources": ()}), manifest.parent)
    before = second.publisher.log.write_inventory

    def overtaken(inventory: object) -> str:
        first.publish()
        return before(inventory)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(second.publisher.log, "write_inventory", overtaken)
        with pytest.raises(PublicationConflict):
            second.publish()
    assert create_reader(tmp_path / "reader", address).fetch("") == version
    assert second.publish().published is False


@pytest.mark.parametrize("same", [True, False])
async def test_publishing_again_repairs_a_damaged_file_list(bucket_address: str, tmp_path: Path, same: bool) -> None:
    first, second = Builder(tmp_path / "first", bucket_address), Builder(tmp_path / "second", bucket_address)
    version = await first.release()
    (version_path,) = (tmp_path / "bucket" / "versions").iterdir()
    version_path.write_bytes(b"{}")
    with pytest.raises(CorpusError, match=r"is damaged: versions/.* has changed since it was written"):
        create_reader(tmp_path / "reader", bucket_address).fetch("")
    mending = first
    if not same:
        await second.build()
        written = second.directory / "versions" / version
        write_sealed(read_manifest(written).model_copy(update={"sources": ()}), written)
        mending = second
    assert mending.publish().published is not same, "another build's list has another number"
    assert create_reader(tmp_path / "reader", bucket_address).fetch("") == version
    assert mending.publish().published is False


async def test_missing_file_of_another_build_is_replaced_when_publishing(bucket_address: str, tmp_path: Path) -> None:
    first, second = Builder(tmp_path / "first", bucket_address), Builder(tmp_path / "second", bucket_address)
    version = await first.build()
    await second.build()
    written = second.directory / "versions" / version
    write_sealed(read_manifest(written).model_copy(update={"sources": ()}), written)
    first.publish()
    lost = compute_checksum(first.directory / "versions" / version / MANIFEST)
    ObjectStorage(bucket_address).remove(build_file_object_name(lost))
    assert second.publish().number == 2
    assert create_reader(tmp_path / "reader", bucket_address).fetch("") == version


async def test_first_sharded_pull_replaces_unsharded_corpus_while_readers_continue(
    bucket_address: str, tmp_path: Path
) -> None:
    origin = create_reader(tmp_path / "reader", bucket_address)
    directory = origin.copy.directory
    builder, shards = Builder(tmp_path / "one", bucket_address), Builder(tmp_path / "shards", bucket_address, 2)
    await builder.release()
    reading = Corpus.open(directory, EMBEDDER, origin.fetch(""))
    newest = await shards.release()
    assert create_reader(tmp_path / "reader", bucket_address).fetch("") == newest
    assert await read_answers(directory, newest) == await read_answers(shards.directory, newest)
    assert len(await reading.search(["bees"], 5, OPEN)) == 1, "who reads goes on"
    assert (directory / "segments").is_dir()
    reading.close()
    newest = await shards.release_update(40)
    last = create_reader(tmp_path / "reader", bucket_address)
    assert last.fetch("") == newest
    assert find_unopenable_files(directory) == []


def find_unopenable_files(directory: Path) -> list[str]:
    """Return the files that cannot be opened once the corpus is in shards."""
    segments = [path.name for path in (directory / "segments").glob("*")]
    return segments + [path.name for path in (directory / "versions").glob("*/words")]


async def test_sharded_pull_on_nearly_full_disk_succeeds_by_freeing_space(
    bucket_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder, origin = (
        Builder(tmp_path / "builder", bucket_address, 3),
        create_reader(tmp_path / "reader", bucket_address),
    )
    versions = [await builder.release()]
    origin.fetch("")
    for number in (40, 41):
        versions.append(await builder.release_update(number))
        if number == 40:
            origin.bucket.fetch_latest()
            origin.fetch("")
    usage, call_count = shutil.disk_usage(tmp_path), 0

    def nearly_full(_: Path) -> object:
        """Report a full disk on every other call, as if removing old versions had freed space."""
        nonlocal call_count
        call_count += 1
        return usage._replace(free=1000 if call_count % 2 else usage.free)

    monkeypatch.setattr(shutil, "disk_usage", nearly_full)
    origin.bucket.fetch_latest()
    assert origin.fetch("") == versions[-1]
    assert call_count > 2, "room was made more than once"
    assert await read_answers(origin.copy.directory, versions[-1]) == await read_answers(
        builder.directory, versions[-1]
    )
