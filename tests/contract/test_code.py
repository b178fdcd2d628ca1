"""GitHub search and repository reading, against real git repositories in the simulated world."""

import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assayer.errors import DownloadFailed, DownloadRefused, Unreadable
from assayer.models import OPEN, Absent, Codebase, Window
from cluster.clock import SystemClock
from simulator.outside.library import Library
from simulator.outside.process import OutsideWorld
from simulator.outside.repositories import Repositories
from simulator.outside.sample import SAMPLE
from tests.contract.small_source_gateway import create_in_memory_gateway
from workers.code import CodeSettings
from workers.code.adapter import CodeAdapter
from workers.code.commits import Commit
from workers.code.github import GitHub
from workers.code.repository_survey import RepositorySurveyor
from workers.fetching import DownloadLimits
from workers.fetching.downloader import Downloader
from workers.fetching.settings import FetchingSettings
from workers.file_cache import FileCache
from workers.file_storage import FileStorage
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext
from workers.outbound.source_settings import GithubSettings

ASK = RequestContext("evaluation", 30.0)
CLOCK = SystemClock()
LOOPBACK = FetchingSettings(allow=("127.0.0.0/8",))
KNOWN = Repositories(Library(SAMPLE))
FIRST = KNOWN.by_paper[0]


@pytest.fixture
async def github_gateway(world: OutsideWorld) -> AsyncIterator[SourceGateway]:
    settings = GithubSettings.model_validate({"base_url": world.url("github"), "spacing_seconds": 0.0})
    async with create_in_memory_gateway({"github": settings}) as gateway:
        yield gateway


@pytest.fixture
def code_cache(tmp_path: Path) -> FileCache[Codebase]:
    return FileCache(FileStorage(str(tmp_path)), "code", Codebase, CLOCK, dt.timedelta.max, dt.timedelta(days=1))


@pytest.fixture
def settings(world: OutsideWorld) -> CodeSettings:
    return CodeSettings(archive_url=world.url("github/archive"))


@pytest.fixture
async def downloader() -> AsyncIterator[Downloader]:
    async with Downloader(LOOPBACK, CLOCK) as opened_downloader:
        yield opened_downloader


@pytest.fixture
def code(
    downloader: Downloader, settings: CodeSettings, github_gateway: SourceGateway, code_cache: FileCache[Codebase]
) -> CodeAdapter:
    return CodeAdapter(github_gateway, RepositorySurveyor(downloader, settings), code_cache, settings, ASK)


async def read(code: CodeAdapter, name: str, before: dt.date | None = None) -> Codebase:
    (codebase,) = (await code.read([name], Window.until(before))).values()
    assert isinstance(codebase, Codebase), codebase
    return codebase


async def test_search_finds_repositories_created_in_the_window(github_gateway: SourceGateway) -> None:
    window = Window(after=dt.date(2014, 1, 1), before=dt.date(2020, 12, 31))
    repositories = await GitHub(github_gateway).search('graph "networks": NOT learning OR (attention)', 50, window, ASK)
    assert repositories
    for repository in repositories:
        known = KNOWN.by_name[repository.name]
        assert (repository.created, repository.pushed) == (known.created, known.pushed)
        assert repository.created is not None
        assert window.after <= repository.created <= window.before  # type: ignore[operator]
        assert known.entry is not None
        assert repository.stars == known.entry.record.citation_count
        assert repository.url == f"https://github.com/{repository.name}"


async def test_long_search_query_respects_the_api_limits(github_gateway: SourceGateway) -> None:
    assert await GitHub(github_gateway).search("graph networks " * 60, 200, Window(), ASK)


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
    downloader: Downloader,
    settings: CodeSettings,
    github_gateway: SourceGateway,
    code_cache: FileCache[Codebase],
    code: CodeAdapter,
) -> None:
    first = await read(code, FIRST.name)

    def create_other_adapter(**changes: object) -> CodeAdapter:
        changed = settings.model_copy(update={"archive_url": f"{settings.archive_url}/nowhere", **changes})
        return CodeAdapter(github_gateway, RepositorySurveyor(downloader, changed), code_cache, changed, ASK)

    assert await read(create_other_adapter(), FIRST.name) == first
    (codebase,) = (await create_other_adapter(sources=1).read([FIRST.name], OPEN)).values()
    assert isinstance(codebase, Absent)


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


async def test_repository_code_never_runs_and_injections_are_flagged(code: CodeAdapter) -> None:
    base = await read(code, "hostile/orders")
    assert base.readme == "# Reef\n\nA library."
    assert {flag.kind for flag in base.flags} == {"hidden_text", "suspected_injection"}
    assert "größe" in [definition.name for definition in base.definitions]
    assert {"broken.py", "deep.py"} <= set(base.left_out)
    assert "model.bin" in base.tree


@pytest.mark.parametrize(
    "name", ["hostile/empty", "hostile/parents", "nobody/nothing", "../../etc", "a/b/c", "hostile/links?x"]
)
async def test_unreadable_repository_is_absent_and_others_are_read(code: CodeAdapter, name: str) -> None:
    codebases = await code.read([name, FIRST.name, name], OPEN)
    assert list(codebases) == [name, FIRST.name]
    assert isinstance(codebases[name], Absent)
    assert isinstance(codebases[FIRST.name], Codebase)


@pytest.mark.parametrize(
    ("limits", "error", "says"),
    [
        ({"download": DownloadLimits(bytes=500)}, DownloadRefused, "more than 0.0005 MB|is 0.0 MB"),
        ({"memory_bytes": 3_000_000}, Unreadable, "cannot be read"),
        ({"wall_seconds": 0.001}, Unreadable, "cannot be read"),
    ],
)
async def test_archive_over_a_limit_is_refused(
    downloader: Downloader,
    settings: CodeSettings,
    github_gateway: SourceGateway,
    limits: dict[str, object],
    error: type[Exception],
    says: str,
) -> None:
    commit = await GitHub(github_gateway).fetch_last_commit(FIRST.name, OPEN, ASK)
    assert commit is not None
    with pytest.raises(error, match=says):
        await RepositorySurveyor(downloader, settings.model_copy(update=limits)).survey(FIRST.name, commit)


async def test_unknown_commit_is_a_failed_download(downloader: Downloader, settings: CodeSettings) -> None:
    with pytest.raises(DownloadFailed, match="404"):
        await RepositorySurveyor(downloader, settings).survey(FIRST.name, Commit("0" * 40, ""))


def test_archive_url_must_be_a_web_address() -> None:
    for wrong in ("file:///etc", "ext::sh -c id", "ssh://host", "https://host/?x"):
        with pytest.raises(ValueError, match="archive_url"):
            CodeSettings(archive_url=wrong)
