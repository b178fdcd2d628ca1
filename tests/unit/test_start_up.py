"""Modules that commands load at start: listing commands needs no library of theirs, and a small command no large
one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.cli.main import COMMANDS
from tests.fork_server import PROGRAM

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
"""Modules needed only by processes that embed, train or serve; every other service process starts without them."""
REMOTE = frozenset({"aiohttp", "httpx2", "openai", "assayer.blinding.blind", "workers.fetching.downloader"})
"""Modules needed only for requests to models and remote sources, and for blind evaluations: a first report that asks
nothing over the network is made without them."""

SIGN_IN = frozenset({"authlib", "joserfc"})
"""Modules needed only for sign-in with an identity provider."""


@pytest.mark.parametrize(
    ("modules", "unneeded"),
    [
        ("cluster.cli.main", LARGE | {"asyncpg", "httpx2", "psutil", "pydantic_settings"}),
        ("cluster.settings_loading", LARGE | {"asyncpg", "httpx2", "psutil"}),
        ("cluster.cli.admin.tenants, cluster.cli.admin.keys, cluster.database", LARGE | {"httpx2"}),
        (
            "cluster.cli.batch.submit, cluster.cli.batch.watch, cluster.cli.batch.fetch, cluster.cli.batch.cancel, "
            "cluster.cli.batch.timeline, assayer_client",
            LARGE | {"asyncpg", "psutil"},
        ),
        ("cluster.cli.serve, cluster.cli.doctor, cluster.cli.corpus", LARGE | {"asyncpg", "httpx2"}),
        ("cluster.engine, cluster.job_performer", MODELS),
        ("cluster.engine, cluster.read_proposals, cluster.works_as_ideas", REMOTE | MODELS),
        ("cluster.service, cluster.http_server", (MODELS - {"fastapi"}) | SIGN_IN),
    ],
    ids=["help", "settings", "accounts", "client", "others", "engine", "report", "service"],
)
def test_command_startup_imports_no_unneeded_libraries(modules: str, unneeded: frozenset[str]) -> None:
    program = f"import sys, {modules}; print(*set({sorted(unneeded)}) & sys.modules.keys())"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert process.stdout.split() == []


def test_command_list_help_matches_each_command() -> None:
    assert [(command.name, command.help) for command in COMMANDS if command.load_command().help != command.help] == []


def test_help_of_the_installed_program_names_every_command() -> None:
    process = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True, timeout=120)
    assert [command.name for command in COMMANDS if f" {command.name} " not in process.stdout] == []


def test_command_with_missing_dependency_names_required_extra() -> None:
    program = """
import sys
from pathlib import Path
sys.modules["fastapi"] = None
sys.argv = ["assayer", "serve", "--port", "0"]
from cluster.cli.main import main
main()
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == (
        "Error: This command needs fastapi, which is not installed. "
        "Install it with: pip install 'assayer-research[api]'.\n"
    )


@pytest.mark.parametrize("command", [["serve"], ["serve", "--ray"], ["mcp", "--http"]], ids=" ".join)
def test_occupied_port_is_rejected_before_loading(command: list[str], tmp_path: Path) -> None:
    program = """
import socket, sys
taken = socket.create_server(("127.0.0.1", 0))
port = str(taken.getsockname()[1])
sys.argv = ["assayer", *sys.argv[1:], *(["--port"] if sys.argv[1] == "serve" else []), port]
from cluster.cli.main import main
try:
    main()
finally:
    print(*{"fastapi", "mcp", "ray", "torch", "uvicorn"} & sys.modules.keys())
"""
    process = subprocess.run(
        [sys.executable, "-c", program, *command],
        env=os.environ | {"ASSAYER_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (process.returncode, process.stdout.strip()) == (2, "")
    assert "Address already in use" in process.stderr
