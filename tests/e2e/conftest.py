"""The program with a built corpus, and the evaluations that the tests of this session look at."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e import evaluations
from tests.e2e.evaluations import JOBS, Ahead, Bare, Boarded, Evaluated, Killed, Refused, ToppedUp
from tests.e2e.program import CORPUS, Homes, Program


@pytest.fixture(scope="session")
def homes() -> Iterator[Homes]:
    # Not pytest's own temporary directory: as root the server runs as a user who may not pass through it.
    with tempfile.TemporaryDirectory(prefix="assayer-e2e-") as folder:
        Path(folder).chmod(0o711)
        homes = Homes(Path(folder), Path(folder) / "corpus")
        builder = homes.fresh("builder")
        ended = builder.run("corpus", "build", CORPUS)
        assert ended.code == 0, ended.err
        assert "84" in ended.out
        yield homes
        homes.stop_servers()


@pytest.fixture(scope="session")
def ahead(homes: Homes, request: pytest.FixtureRequest) -> Iterator[Ahead]:
    """Everything that the selected tests will ask for, begun."""
    wanted = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield Ahead({job: pool.submit(job, homes) for job in JOBS if job.__name__ in wanted})


@pytest.fixture(scope="module")
def program(homes: Homes, request: pytest.FixtureRequest) -> Program:
    """With a database for this module."""
    return homes.fresh(request.path.stem)


@pytest.fixture(scope="session")
def undisturbed(ahead: Ahead) -> Evaluated:
    return ahead.result(evaluations.undisturbed)


@pytest.fixture(scope="session")
def dated(ahead: Ahead) -> Evaluated:
    return ahead.result(evaluations.dated)


@pytest.fixture(scope="session")
def budgeted(ahead: Ahead) -> Evaluated:
    return ahead.result(evaluations.budgeted)


@pytest.fixture(scope="session")
def faulty(ahead: Ahead) -> Evaluated:
    return ahead.result(evaluations.faulty)


@pytest.fixture(scope="session")
def bare(ahead: Ahead) -> Bare:
    return ahead.result(evaluations.bare)


@pytest.fixture(scope="session")
def refused(ahead: Ahead) -> Refused:
    return ahead.result(evaluations.refused)


@pytest.fixture(scope="session")
def revoked(ahead: Ahead) -> Evaluated:
    return ahead.result(evaluations.revoked)


@pytest.fixture(scope="session")
def topped_up(ahead: Ahead) -> ToppedUp:
    return ahead.result(evaluations.topped_up)


@pytest.fixture(scope="session")
def boarded(ahead: Ahead) -> Boarded:
    return ahead.result(evaluations.boarded)


@pytest.fixture(scope="session")
def killed(ahead: Ahead) -> Killed:
    return ahead.result(evaluations.killed)
