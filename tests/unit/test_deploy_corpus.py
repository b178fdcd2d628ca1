"""Nightly corpus updates: the timer of a single machine, and the job of a cluster."""

import configparser
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from typer.main import get_command

from cluster.cli.corpus import app

ROOT = Path(__file__).parents[2]
SYSTEMD = ROOT / "deploy" / "systemd"
_KUBERNETES = "1.34"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment, method-assign] # systemd's names have capitals
    parser.read(SYSTEMD / name, "utf-8")
    return parser


@pytest.fixture(scope="module")
def job() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "k8s" / "corpus" / "nightly" / "job.yaml").read_text("utf-8"))
    return found


def parses(arguments: list[str]) -> bool:
    """Whether the program takes such arguments."""
    command = get_command(app).commands[arguments[0]]  # type: ignore[attr-defined] # of a group
    return bool(command.make_context(arguments[0], arguments[1:]).params)


def test_nightly_timer_is_persistent_and_has_a_matching_service() -> None:
    timer = unit("assayer-corpus.timer")
    assert timer["Timer"]["OnCalendar"].endswith("03:00:00")
    assert timer["Timer"]["Persistent"] == "yes"
    assert timer["Install"]["WantedBy"] == "timers.target"
    assert (SYSTEMD / "assayer-corpus.service").is_file()


def test_systemd_service_runs_an_existing_command() -> None:
    program, *arguments = unit("assayer-corpus.service")["Service"]["ExecStart"].split()
    assert Path(program).name == "assayer"
    assert arguments[0] == "corpus"
    assert parses(arguments[1:])


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not there")
def test_systemd_units_are_valid(tmp_path: Path) -> None:
    """The program named in the units is replaced by an existing program; systemd reports unknown settings on
    standard error."""
    for path in SYSTEMD.iterdir():
        text = path.read_text("utf-8").replace("/opt/assayer/bin/assayer", sys.executable)
        (tmp_path / path.name).write_text(text.replace("User=assayer\n", ""), "utf-8")
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    ours = [line for line in told.stderr.splitlines() if "assayer-corpus" in line]
    assert (told.returncode, ours) == (0, [])


def test_kubernetes_job_is_valid_and_forbids_concurrent_runs(job: dict[str, Any]) -> None:
    kubernetes_validate.validate(job, _KUBERNETES, strict=True)
    assert job["spec"]["concurrencyPolicy"] == "Forbid"


def test_kubernetes_job_runs_an_existing_command_with_restricted_permissions(job: dict[str, Any]) -> None:
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    program, group, *arguments = container["command"]
    assert (program, group) == ("assayer", "corpus")
    assert parses(arguments)
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
