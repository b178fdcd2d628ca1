"""What commands load before they do anything: a list of commands needs no library of theirs, a small one no large."""

import subprocess
import sys

import pytest

from cluster.cli.main import COMMANDS, LazyCommand

LARGE = frozenset(
    {
        "aiohttp",
        "bm25s",
        "faiss",
        "fastapi",
        "jinja2",
        "lxml",
        "numpy",
        "openai",
        "prometheus_client",
        "pyarrow",
        "pypdfium2",
        "ray",
        "scipy",
        "sentence_transformers",
        "sklearn",
        "sqlalchemy",
        "starlette",
        "torch",
        "transformers",
        "trafilatura",
        "uvicorn",
    }
)
MODELS = frozenset(
    {"faiss", "fastapi", "pandas", "ray", "scipy.optimize", "scipy.stats", "sklearn", "torch", "transformers"}
)
"""What only those need that embed, train or serve: every process of the service that does not is ready without."""


@pytest.mark.parametrize(
    ("modules", "unneeded"),
    [
        ("cluster.cli.main", LARGE | {"alembic", "asyncpg", "httpx2", "psutil", "pydantic_settings"}),
        ("cluster.settings_loading", LARGE | {"alembic", "asyncpg", "httpx2", "psutil"}),
        ("cluster.cli.tenants, cluster.cli.keys, cluster.database", LARGE | {"alembic", "httpx2"}),
        (
            "cluster.cli.submit, cluster.cli.watch, cluster.cli.fetch, cluster.cli.cancel, cluster.cli.timeline, "
            "assayer_client",
            LARGE | {"alembic", "asyncpg", "psutil"},
        ),
        ("cluster.cli.serve, cluster.cli.doctor, cluster.cli.corpus", LARGE | {"alembic", "asyncpg", "httpx2"}),
        ("cluster.engine, cluster.job_performer", MODELS),
    ],
    ids=["help", "settings", "accounts", "client", "others", "engine"],
)
def test_start_loads_no_library_that_the_command_does_not_need(modules: str, unneeded: frozenset[str]) -> None:
    program = f"import sys, {modules}; print(*set({sorted(unneeded)}) & sys.modules.keys())"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert ended.stdout.split() == []


@pytest.mark.parametrize("listed", COMMANDS, ids=[one.name for one in COMMANDS])
def test_list_of_commands_says_what_the_command_says_of_itself(listed: LazyCommand) -> None:
    assert listed.command().help == listed.help


def test_command_without_the_libraries_of_its_extra_says_which_extra_to_install() -> None:
    program = """
import sys
sys.modules["fastapi"] = None
sys.argv = ["assayer", "serve", "--port", "0"]
from cluster.cli.main import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "Error: This command needs fastapi, which is not installed. Install it with: pip install 'assayer[service]'.\n"
    )
