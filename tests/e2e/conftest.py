"""Fixtures: the program with a built corpus, and evaluations, each created when first requested."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from cluster.postgres import EmbeddedPostgres
from orchestrator.store import Database, DatabaseSettings
from tests.e2e.evaluations import (  # noqa: F401 - fixtures
    bare_run,
    boarded_runs,
    budgeted_run,
    dated_run,
    faulty_run,
    killed_run,
    revoked_run,
    topped_up_runs,
    undisturbed_run,
)
from tests.e2e.program import CORPUS, Homes, Program
from tests.e2e.wheel import build_wheel
from tests.run_folder import make_once


@pytest.fixture(scope="session")
def homes(run_folder: Path) -> Iterator[Homes]:
    """Data directories of this test worker, with the corpus that all workers share and the database that they copy."""
    folder = Path(tempfile.mkdtemp(prefix="homes-", dir=run_folder))
    folder.chmod(0o711)
    homes = Homes(folder, run_folder / "corpus", run_folder / "database")

    def build_corpus() -> None:
        result = homes.create_home("builder").run("corpus", "build", CORPUS)
        assert result.code == 0, result.err
        assert "84" in result.out

    make_once(homes.database, lambda: asyncio.run(_make_database(homes.database)))
    make_once(homes.corpus, build_corpus)
    yield homes
    homes.stop_servers()


async def _make_database(folder: Path) -> None:
    async with (
        EmbeddedPostgres(folder, durable=False) as server,
        Database(DatabaseSettings(url=SecretStr(await server.ensure()))) as database,
    ):
        await database.migrate()


@pytest.fixture(scope="session")
def wheel_file(run_folder: Path) -> Path:
    """Wheel of this checkout, built once for all workers."""
    folder = make_once(run_folder / "wheel", lambda: build_wheel(run_folder / "wheel"))
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def program(homes: Homes, request: pytest.FixtureRequest) -> Program:
    """Program with a database for this module."""
    return homes.create_home(request.path.stem)
