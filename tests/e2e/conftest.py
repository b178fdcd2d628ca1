"""The program with a built corpus, and evaluations, each made when the first test asks for it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import evaluations
from tests.e2e.evaluations import Bare, Boarded, Evaluated, Killed, Refused, ToppedUp
from tests.e2e.program import CORPUS, Homes, Program
from tests.run_folder import made_once


@pytest.fixture(scope="session")
def homes(run_folder: Path) -> Iterator[Homes]:
    """Of this worker, with the corpus that all workers read."""
    folder = Path(tempfile.mkdtemp(prefix="homes-", dir=run_folder))
    folder.chmod(0o711)
    homes = Homes(folder, run_folder / "corpus")

    def build_corpus() -> None:
        ended = homes.fresh("builder").run("corpus", "build", CORPUS)
        assert ended.code == 0, ended.err
        assert "84" in ended.out

    made_once(homes.corpus, build_corpus)
    yield homes
    homes.stop_servers()


@pytest.fixture(scope="module")
def program(homes: Homes, request: pytest.FixtureRequest) -> Program:
    """With a database for this module."""
    return homes.fresh(request.path.stem)


@pytest.fixture(scope="session")
def undisturbed(homes: Homes) -> Evaluated:
    return evaluations.undisturbed(homes)


@pytest.fixture(scope="session")
def dated(homes: Homes) -> Evaluated:
    return evaluations.dated(homes)


@pytest.fixture(scope="session")
def budgeted(homes: Homes) -> Evaluated:
    return evaluations.budgeted(homes)


@pytest.fixture(scope="session")
def faulty(homes: Homes) -> Evaluated:
    return evaluations.faulty(homes)


@pytest.fixture(scope="session")
def bare(homes: Homes) -> Bare:
    return evaluations.bare(homes)


@pytest.fixture(scope="session")
def refused(homes: Homes) -> Refused:
    return evaluations.refused(homes)


@pytest.fixture(scope="session")
def revoked(homes: Homes) -> Evaluated:
    return evaluations.revoked(homes)


@pytest.fixture(scope="session")
def topped_up(homes: Homes) -> ToppedUp:
    return evaluations.topped_up(homes)


@pytest.fixture(scope="session")
def boarded(homes: Homes) -> Boarded:
    return evaluations.boarded(homes)


@pytest.fixture(scope="session")
def killed(homes: Homes) -> Killed:
    return evaluations.killed(homes)
