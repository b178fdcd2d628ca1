"""kill -9 in an update and in a build: the version of before or the new one answers, and the work ends
well when it is done again, with nothing left over."""

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from index import VersionStore, build_corpus
from tests.contract.corpus_killer import OPTIONS, Steps, run_action
from tests.contract.published_corpora import read_answers
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

_ROOT = Path(__file__).parents[2]
_POINTS = [pytest.param(1, id="one point"), pytest.param(10, marks=pytest.mark.slow, id="ten points")]
_MOST_SECONDS = 240
_FIELDS: dict[str, Any] = {
    "sections": [{"title": "Methods", "text": "We walked transects and counted. " * 60}],
    "cited_in_text": [{"id": "bee-03", "at": [[0, 40], [0, 1_500]]}],
}
"""A full text that cites."""


class Scene(NamedTuple):
    what: str
    source: Path
    removed: Path
    before: Path
    """A corpus to start from; an empty directory for a first build."""

    async def run_again(self, directory: Path) -> None:
        await run_action(self.what, self.source, self.removed, directory, Steps(None))

    def run_killed(self, *directories: str) -> list[tuple[int, int]]:
        """Steps that were done, and the exit code; below zero a signal."""
        completed = subprocess.run(
            [sys.executable, "-m", "tests.contract.corpus_killer", self.what, self.source, self.removed, *directories],
            cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=_MOST_SECONDS,
        )  # fmt: skip
        return [(int(steps_done), int(code)) for steps_done, code in map(str.split, completed.stdout.splitlines())]


@pytest.fixture(
    params=[
        "update",
        pytest.param("build over another version", marks=pytest.mark.slow),
        pytest.param("first build", marks=pytest.mark.slow),
    ]
)
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    before, removed = tmp_path / "before", tmp_path / "removed.txt"
    before.mkdir()
    removed.write_text("bee-07\nbee-12\nnobody\n")
    if request.param != "first build":
        papers = [*RECORDS, *(record(number, **_FIELDS) for number in range(30, 50))]
        await build_corpus([write_jsonl(tmp_path / "old.jsonl", papers)], before, HashingEmbedder(), options=OPTIONS)
    coming = [record(3, title="Lichens on old walls"), *(record(number, **_FIELDS) for number in range(50, 62))]
    source = write_jsonl(tmp_path / "new.jsonl", coming)
    return Scene("update" if request.param == "update" else "build", source, removed, before)


async def _read_answers_if_any(directory: Path) -> Any:
    """All that the corpus says, or None where there is none."""
    version = VersionStore(directory).read_current_version()
    return await read_answers(directory, version) if version else None


def _list_tree(directory: Path) -> set[str]:
    """Names of files and folders; of the word indexes, whose files are named by chance, how they end."""
    paths = {path.relative_to(directory) for path in directory.rglob("*")}
    return {path.as_posix() if "words" not in path.parts[:-1] else f"{path.parent}/…{path.suffix}" for path in paths}


@pytest.mark.parametrize("number", _POINTS)
async def test_killed_build_or_update_leaves_a_valid_version_and_rerun_completes(
    scene: Scene, number: int, tmp_path: Path, copy_scene: Callable[[Path, str], Path]
) -> None:
    complete_copy = copy_scene(scene.before, "whole")
    ((steps, code),) = scene.run_killed(str(complete_copy))
    assert code == 0
    before, after = await _read_answers_if_any(scene.before), await _read_answers_if_any(complete_copy)
    assert before != after
    points = sorted(random.Random(4).sample(range(steps), number))  # noqa: S311 - points, not secrets
    directories = {point: copy_scene(scene.before, f"killed-{point}") for point in points}
    endings = scene.run_killed(*(f"{directory}:{point}" for point, directory in directories.items()))
    assert endings == [(point, -9) for point in points]
    for directory in directories.values():
        assert await _read_answers_if_any(directory) in (before, after)
        await scene.run_again(directory)
        assert await _read_answers_if_any(directory) == after
        assert _list_tree(directory) == _list_tree(complete_copy)


@pytest.fixture
def copy_scene(tmp_path: Path) -> Callable[[Path, str], Path]:
    def copy(source: Path, name: str) -> Path:
        return Path(shutil.copytree(source, tmp_path / name))

    return copy
