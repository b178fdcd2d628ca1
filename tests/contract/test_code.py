"""GitHub search and repository reading, against real git repositories in the simulated world."""

import datetime as dt
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from assayer.errors import ConfigurationError, DownloadFailed, DownloadRefused
from assayer.models import OPEN, Absent, Codebase, Window
from cluster.clock import SystemClock
from simulator.outside.library import Library
from simulator.outside.process import OutsideWorld
from simulator.outside.repositories import Repositories
from simulator.outside.sample import SAMPLE
from tests.contract.small_source_gateway import forgetful
from workers.code import CodeSettings
from workers.code.adapter import CodeAdapter
from workers.code.checkout import Commit, TreeEntry
from workers.code.git_clone import GitCloner
from workers.code.github import GitHub
from workers.file_cache import FileCache
from workers.file_storage import FileStorage
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext
from workers.outbound.source_settings import GithubSettings

ASK = RequestContext("evaluation", 30.0)
CLOCK = SystemClock()
KNOWN = Repositories(Library(SAMPLE))
FIRST = KNOWN.of_paper[0]


@pytest.fixture
async def remote(world: OutsideWorld) -> AsyncIterator[SourceGateway]:
    settings = GithubSettings.model_validate({"base_url": world.url("github"), "spacing_seconds": 0.0})
    async with forgetful({"github": settings}) as gateway:
        yield gateway


@pytest.fixture
def kept(tmp_path: Path) -> FileCache[Codebase]:
    return FileCache(FileStorage(str(tmp_path)), "code", Codebase, CLOCK, dt.timedelta.max, dt.timedelta(days=1))


def cloning(world: OutsideWorld, **limits: float) -> CodeSettings:
    return CodeSettings.model_validate({"clone_url": world.url("github/git"), **limits})


@pytest.fixture(params=["git", "api"])
def code(
    request: pytest.FixtureRequest, world: OutsideWorld, remote: SourceGateway, kept: FileCache[Codebase]
) -> CodeAdapter:
    """Both ways of reading must tell the same."""
    if request.param == "api":
        return CodeAdapter(remote, None, kept, CodeSettings(), ASK)
    settings = cloning(world)
    return CodeAdapter(remote, GitCloner(settings), kept, settings, ASK)


async def read(code: CodeAdapter, name: str, before: dt.date | None = None) -> Codebase:
    (found,) = (await code.read([name], Window.until(before))).values()
    assert isinstance(found, Codebase), found
    return found


async def test_search_finds_repositories_created_in_the_window(remote: SourceGateway) -> None:
    window = Window(after=dt.date(2014, 1, 1), before=dt.date(2020, 12, 31))
    found = await GitHub(remote).search('graph "networks": NOT learning OR (attention)', 50, window, ASK)
    assert found
    for repository in found:
        known = KNOWN.by_name[repository.name]
        assert (repository.created, repository.pushed) == (known.created, known.pushed)
        assert repository.created is not None
        assert window.after <= repository.created <= window.before  # type: ignore[operator]
        assert known.entry is not None
        assert repository.stars == known.entry.record.citation_count
        assert repository.url == f"https://github.com/{repository.name}"


async def test_long_search_query_respects_the_api_limits(remote: SourceGateway) -> None:
    assert await GitHub(remote).search("graph networks " * 60, 200, Window(), ASK)


async def test_repository_readme_structure_and_definitions_are_read(code: CodeAdapter) -> None:
    base = await read(code, FIRST.name)
    assert FIRST.entry is not None
    assert base.readme.startswith(f"# {FIRST.entry.record.title}")
    assert base.tree == ("NEWS.md", "README.md", "src/__init__.py", "src/model.py", "tests/test_model.py", "train.py")
    assert base.files == 6
    assert base.committed == FIRST.pushed
    assert [source.path for source in base.sources] == ["train.py", "src/model.py", "tests/test_model.py"]
    assert [(definition.path, definition.name, definition.doc) for definition in base.definitions] == [
        ("train.py", "train", "Runs the training."),
        ("src/model.py", "Model", "Learns the task."),
        ("src/model.py", "Model.forward", ""),
        ("src/model.py", "Model.scale", ""),
        ("tests/test_model.py", "test_model", ""),
    ]
    assert base.definitions[2].calls == ("math.tanh", "self.scale")
    assert (base.left_out, base.flags) == ((), ())


async def test_cached_repository_state_is_not_fetched_again(
    world: OutsideWorld, remote: SourceGateway, kept: FileCache[Codebase]
) -> None:
    settings = cloning(world)
    first = await read(CodeAdapter(remote, GitCloner(settings), kept, settings, ASK), FIRST.name)
    gone = settings.model_copy(update={"clone_url": world.url("nowhere")})
    assert await read(CodeAdapter(remote, GitCloner(gone), kept, gone, ASK), FIRST.name) == first
    narrower = gone.model_copy(update={"sources": 1})
    (found,) = (await CodeAdapter(remote, GitCloner(narrower), kept, narrower, ASK).read([FIRST.name], OPEN)).values()
    assert isinstance(found, Absent)


async def test_repository_is_read_as_of_the_cutoff_date(code: CodeAdapter) -> None:
    early = await read(code, FIRST.name, FIRST.created)
    assert "NEWS.md" not in early.tree
    assert early.committed == FIRST.created
    day_before = FIRST.created - dt.timedelta(days=1)
    absent = (await code.read([FIRST.name], Window.until(day_before)))[FIRST.name]
    assert absent == Absent(reason="the repository does not exist or is empty")


async def test_links_are_not_followed_out_of_the_repository(code: CodeAdapter) -> None:
    base = await read(code, "hostile/links")
    assert base.readme == ""
    assert base.left_out == ("README.md", "docs", "src/above.py")
    assert [source.path for source in base.sources] == ["src/honest.py"]
    assert "root:" not in base.model_dump_json()


async def test_paths_outside_the_repository_are_not_read(code: CodeAdapter) -> None:
    base = await read(code, "hostile/parents")
    assert set(base.left_out) == {"..", "../../escaped.py", "a/../../b.py"}
    assert base.sources == ()
    assert base.readme == "def escaped(): pass"


async def test_repository_code_never_runs_and_injections_are_flagged(code: CodeAdapter) -> None:
    base = await read(code, "hostile/orders")
    assert base.readme == "# Reef\n\nA library."
    assert {flag.kind for flag in base.flags} == {"hidden_text", "suspected_injection"}
    assert "größe" in [definition.name for definition in base.definitions]
    assert {"broken.py", "deep.py"} <= set(base.left_out)
    assert "model.bin" in base.tree
    assert not os.path.exists("/tmp/never")  # noqa: S108, ASYNC240 - the submodule's command would write it


@pytest.mark.parametrize("name", ["hostile/empty", "nobody/nothing", "../../etc", "a/b/c", "hostile/links?x"])
async def test_unreadable_repository_is_absent_and_others_are_read(code: CodeAdapter, name: str) -> None:
    found = await code.read([name, FIRST.name, name], OPEN)
    assert list(found) == [name, FIRST.name]
    assert isinstance(found[name], Absent)
    assert isinstance(found[FIRST.name], Codebase)


@pytest.mark.parametrize(
    ("limits", "error", "says"),
    [
        ({"clone_bytes": 500}, DownloadFailed, "more than 0.0005 MB"),
        ({"clone_seconds": 0.01}, DownloadRefused, r"takes more than 0\.01 s to fetch"),
        ({"memory_bytes": 3_000_000}, DownloadFailed, "could not fetch"),
        ({"listing_bytes": 10}, DownloadRefused, "too many or too large files"),
    ],
)
async def test_clone_over_a_limit_is_aborted_and_its_processes_end(
    world: OutsideWorld, remote: SourceGateway, limits: dict[str, float], error: type[Exception], says: str
) -> None:
    commit = await GitHub(remote).commit(FIRST.name, OPEN, ASK)
    assert commit is not None
    with pytest.raises(error, match=says):
        async with GitCloner(cloning(world, **limits)).clone(FIRST.name, commit) as clone:
            await clone.entries()
    # The simulated host is a child too, and has gits of its own.
    assert not [child for child in psutil.Process().children() if "core.hooksPath" in _command(child)]


def _command(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


async def test_missing_listed_file_is_a_failed_download(world: OutsideWorld, remote: SourceGateway) -> None:
    commit = await GitHub(remote).commit(FIRST.name, OPEN, ASK)
    assert commit is not None
    async with GitCloner(cloning(world)).clone(FIRST.name, commit) as clone:
        known = [entry for entry in await clone.entries() if entry.path == "train.py"]
        assert list(await clone.contents(known)) == ["train.py"]
        for sha in ("1" * 40, commit.sha):
            with pytest.raises(DownloadFailed, match="is missing"):
                await clone.contents([*known, TreeEntry("x.py", "100644", sha, 10)])


async def test_unknown_commit_is_a_failed_download(world: OutsideWorld) -> None:
    with pytest.raises(DownloadFailed, match="git could not fetch"):
        async with GitCloner(cloning(world)).clone(FIRST.name, Commit("0" * 40, "")):
            pass


async def test_git_redirects_are_not_followed(world: OutsideWorld, remote: SourceGateway) -> None:
    commit = await GitHub(remote).commit(FIRST.name, OPEN, ASK)
    assert commit is not None
    settings = CodeSettings(clone_url=world.url("github/moved"))
    with pytest.raises(DownloadFailed, match="git could not fetch"):
        async with GitCloner(settings).clone(FIRST.name, commit):
            pass
    operations = world.stats("github").by_operation
    assert operations["moved"] == 1
    assert "git" not in operations


async def test_cloner_rejects_other_protocols_and_requires_a_clone_url() -> None:
    for wrong in ("file:///etc", "ext::sh -c id", "ssh://host", "https://host/?x"):
        with pytest.raises(ValueError, match="clone_url"):
            CodeSettings(clone_url=wrong)
    with pytest.raises(ConfigurationError):
        GitCloner(CodeSettings())
