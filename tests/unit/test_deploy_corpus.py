"""Nightly corpus updates: the timer of a single machine, and the job of a cluster."""

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from cluster.cli.corpus import app

ROOT = Path(__file__).parents[2]
SYSTEMD = ROOT / "deploy" / "systemd"


def read_unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign] # systemd's names have capitals
    parser.read(SYSTEMD / name, "utf-8")
    return parser


def test_nightly_timer_is_persistent_and_has_a_matching_service() -> None:
    timer = read_unit("assayer-corpus.timer")
    assert timer["Timer"]["OnCalendar"].endswith("03:00:00")
    assert timer["Timer"]["Persistent"] == "yes"
    assert timer["Install"]["WantedBy"] == "timers.target"
    assert (SYSTEMD / "assayer-corpus.service").is_file()


def test_systemd_service_runs_an_existing_command() -> None:
    program, *arguments = read_unit("assayer-corpus.service")["Service"]["ExecStart"].split()
    assert Path(program).name == "assayer"
    assert arguments[0] == "corpus"
    command = get_command(app).commands[arguments[1]]  # type: ignore[attr-defined] # of a group
    assert command.make_context(arguments[1], arguments[2:]).params


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not there")
def test_systemd_units_are_valid(tmp_path: Path) -> None:
    """The program named in the units is replaced by an existing program; systemd reports unknown settings on
    standard error."""
    for path in SYSTEMD.iterdir():
        text = path.read_text("utf-8").replace("/opt/assayer/bin/assayer", sys.executable)
        (tmp_path / path.name).write_text(text.replace("User=assayer\n", ""), "utf-8")
    process = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    complaints = [line for line in process.stderr.splitlines() if "assayer-corpus" in line]
    assert (process.returncode, complaints) == (0, [])


def test_kubernetes_job_forbids_concurrent_runs() -> None:
    job = yaml.safe_load((ROOT / "k8s" / "corpus" / "nightly" / "job.yaml").read_text("utf-8"))
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
