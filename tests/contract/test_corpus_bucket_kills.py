"""kill -9 while publishing and while pulling, in a folder and over S3's protocol: readers find the version of before or
the new one, the work ends well when it is done again, and nothing is left over."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from index import VersionStore
from index.object_storage.local_copy import LocalCopy
from index.object_storage.publications import PublicationLog
from index.object_storage.storage import ObjectStorage
from index.versions.verification_cache import VerificationCache
from tests.contract.bucket_killer import publish, pull
from tests.contract.published_corpora import Builder, answers, reader
from tests.object_store import ObjectStore, empty_address

_ROOT = Path(__file__).parents[2]
_POINTS = [pytest.param(1, id="one point"), pytest.param(10, marks=pytest.mark.slow, id="ten points")]
_MOST_SECONDS = 240


def _killed(what: str, *given: str) -> list[tuple[int, int]]:
    """Steps that were done, and the exit code; below zero a signal."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.contract.bucket_killer", what, *given],
        cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=_MOST_SECONDS,
    )  # fmt: skip
    return [(int(done), int(code)) for done, code in map(str.split, told.stdout.splitlines())]


def _points(steps: int, number: int) -> list[int]:
    """Return steps drawn by lot and, of several, the last, at which all but the end was done."""
    last = [steps - 1] if number > 1 else []
    return sorted([*random.Random(4).sample(range(steps - 1), number - len(last)), *last])  # noqa: S311 - no secrets


def _tree(directory: Path) -> set[str]:
    found = {path.relative_to(directory).as_posix() for path in directory.rglob("*")}
    return {item for item in found if not item.startswith("verified")}


def _names(address: str) -> list[str]:
    """Return the names of files in the bucket, without those a killed writer left unfinished.

    Unfinished files are removed after the grace period."""
    return [item.name for item in ObjectStorage(address).list_objects("files") if not item.name.endswith(".partial")]


@pytest.mark.parametrize("number", _POINTS)
@pytest.mark.parametrize(("kind", "shards"), [pytest.param("s3", 0, marks=pytest.mark.slow), ("file", 2)])
async def test_killed_publish_leaves_a_valid_version_and_rerun_completes(
    store: ObjectStore, kind: str, shards: int, number: int, tmp_path: Path
) -> None:
    addresses = [empty_address(kind, tmp_path / str(place), store) for place in range(number + 1)]
    builder = Builder(tmp_path / "builder", addresses[0], shards)
    before = await builder.build()
    for address in addresses:
        publish(builder.directory, address)
    after = await builder.update(40, 41, 42)
    said = {version: await answers(builder.directory, version) for version in (before, after)}
    ((steps, code),) = _killed("publish", str(builder.directory), addresses[0])
    assert code == 0
    points = _points(steps, number)
    given = (
        item for pair in zip(points, addresses[1:], strict=True) for item in (f"{builder.directory}:{pair[0]}", pair[1])
    )
    assert _killed("publish", *given) == [(point, -9) for point in points]
    whole = _names(addresses[0])
    seen = set()
    for point, address in zip(points, addresses[1:], strict=True):
        origin = reader(tmp_path / f"reader-{point}", address)
        version = origin.fetch("")
        seen.add(version)
        assert await answers(origin.copy.directory, version) == said[version]
        publish(builder.directory, address)
        assert origin.fetch("") == after
        assert _names(address) == whole
    assert before in seen or number == 1


@pytest.mark.parametrize("number", _POINTS)
@pytest.mark.parametrize(
    ("kind", "shards"), [("file", 0), *(pytest.param("s3", shards, marks=pytest.mark.slow) for shards in (0, 2))]
)
async def test_killed_pull_leaves_a_valid_version_and_rerun_completes(
    store: ObjectStore, kind: str, shards: int, number: int, tmp_path: Path
) -> None:
    address = empty_address(kind, tmp_path, store)
    builder = Builder(tmp_path / "builder", address, shards)
    before = await builder.release()
    old = tmp_path / "old"
    pull(old, address)
    after = await builder.release_update(40, 41, 42)
    said = {version: await answers(builder.directory, version) for version in (before, after)}
    whole = Path(shutil.copytree(old, tmp_path / "whole"))
    ((steps, code),) = _killed("pull", str(whole), address)
    assert code == 0
    directories = {point: Path(shutil.copytree(old, tmp_path / f"killed-{point}")) for point in _points(steps, number)}
    given = (item for point, directory in directories.items() for item in (f"{directory}:{point}", address))
    assert _killed("pull", *given) == [(point, -9) for point in directories]
    for directory in directories.values():
        copy = LocalCopy(directory, VerificationCache())
        version, current = copy.find_newest_version(), VersionStore(directory).read_current_version()
        assert await answers(directory, version) == said[version]
        assert await answers(directory, current) == said[current]
        pull(directory, address)
        assert await answers(directory, after) == said[after]
        assert _tree(directory) == _tree(whole)


@pytest.mark.slow
async def test_killed_first_pull_installs_nothing_and_resumes(store: ObjectStore, tmp_path: Path) -> None:
    address = empty_address("s3", tmp_path, store)
    builder = Builder(tmp_path / "builder", address)
    version = await builder.release()
    ((steps, _),) = _killed("pull", str(tmp_path / "whole"), address)
    directory = tmp_path / "killed"
    assert _killed("pull", f"{directory}:{steps // 2}", address) == [(steps // 2, -9)]
    assert LocalCopy(directory, VerificationCache()).find_newest_version() == ""
    assert list((directory / "incoming" / "00").glob("?" * 64)), "what came is there"
    pull(directory, address)
    assert await answers(directory, version) == await answers(builder.directory, version)
    assert _tree(directory) == _tree(tmp_path / "whole")
    assert PublicationLog(ObjectStorage(address)).read_newest() is not None
