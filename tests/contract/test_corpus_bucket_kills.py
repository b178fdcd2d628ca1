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
from tests.contract.published_corpora import Builder, create_reader, read_answers
from tests.object_store import ObjectStore, empty_address

_ROOT = Path(__file__).parents[2]
_POINTS = [pytest.param(1, id="one point"), pytest.param(10, marks=pytest.mark.slow, id="ten points")]
_MOST_SECONDS = 240


def _run_killed(action: str, *points: str) -> list[tuple[int, int]]:
    """Steps that were done, and the exit code; below zero a signal."""
    completed = subprocess.run(
        [sys.executable, "-m", "tests.contract.bucket_killer", action, *points],
        cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=_MOST_SECONDS,
    )  # fmt: skip
    return [(int(steps_done), int(code)) for steps_done, code in map(str.split, completed.stdout.splitlines())]


def _draw_points(steps: int, number: int) -> list[int]:
    """Return steps drawn by lot and, of several, the last, at which all but the end was done."""
    last = [steps - 1] if number > 1 else []
    return sorted([*random.Random(4).sample(range(steps - 1), number - len(last)), *last])  # noqa: S311 - no secrets


def _list_tree(directory: Path) -> set[str]:
    tree = {path.relative_to(directory).as_posix() for path in directory.rglob("*")}
    return {item for item in tree if not item.startswith("verified")}


def _list_names(address: str) -> list[str]:
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
    expected_answers = {version: await read_answers(builder.directory, version) for version in (before, after)}
    ((steps, code),) = _run_killed("publish", str(builder.directory), addresses[0])
    assert code == 0
    points = _draw_points(steps, number)
    point_arguments = (
        item for pair in zip(points, addresses[1:], strict=True) for item in (f"{builder.directory}:{pair[0]}", pair[1])
    )
    assert _run_killed("publish", *point_arguments) == [(point, -9) for point in points]
    names_before = _list_names(addresses[0])
    seen_versions = set()
    for point, address in zip(points, addresses[1:], strict=True):
        origin = create_reader(tmp_path / f"reader-{point}", address)
        version = origin.fetch("")
        seen_versions.add(version)
        assert await read_answers(origin.copy.directory, version) == expected_answers[version]
        publish(builder.directory, address)
        assert origin.fetch("") == after
        assert _list_names(address) == names_before
    assert before in seen_versions or number == 1


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
    expected_answers = {version: await read_answers(builder.directory, version) for version in (before, after)}
    complete_copy = Path(shutil.copytree(old, tmp_path / "whole"))
    ((steps, code),) = _run_killed("pull", str(complete_copy), address)
    assert code == 0
    directories = {
        point: Path(shutil.copytree(old, tmp_path / f"killed-{point}")) for point in _draw_points(steps, number)
    }
    point_arguments = (item for point, directory in directories.items() for item in (f"{directory}:{point}", address))
    assert _run_killed("pull", *point_arguments) == [(point, -9) for point in directories]
    for directory in directories.values():
        copy = LocalCopy(directory, VerificationCache())
        version, current = copy.find_newest_version(), VersionStore(directory).read_current_version()
        assert await read_answers(directory, version) == expected_answers[version]
        assert await read_answers(directory, current) == expected_answers[current]
        pull(directory, address)
        assert await read_answers(directory, after) == expected_answers[after]
        assert _list_tree(directory) == _list_tree(complete_copy)


@pytest.mark.slow
async def test_killed_first_pull_installs_nothing_and_resumes(store: ObjectStore, tmp_path: Path) -> None:
    address = empty_address("s3", tmp_path, store)
    builder = Builder(tmp_path / "builder", address)
    version = await builder.release()
    ((steps, _),) = _run_killed("pull", str(tmp_path / "whole"), address)
    directory = tmp_path / "killed"
    assert _run_killed("pull", f"{directory}:{steps // 2}", address) == [(steps // 2, -9)]
    assert LocalCopy(directory, VerificationCache()).find_newest_version() == ""
    assert list((directory / "incoming" / "00").glob("?" * 64)), "what came is there"
    pull(directory, address)
    assert await read_answers(directory, version) == await read_answers(builder.directory, version)
    assert _list_tree(directory) == _list_tree(tmp_path / "whole")
    assert PublicationLog(ObjectStorage(address)).read_newest() is not None
