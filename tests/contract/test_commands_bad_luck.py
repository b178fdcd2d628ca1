"""Every command that reads or writes a file, with unusable files: no traceback, and no success."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster import settings_loading
from tests.constants import CONSTANTS
from tests.contract.command_line import CommandLine, command_line, get_error_message
from tests.contract.scripted_service import answer, build_problem, run_script
from tests.e2e.program import IDEAS

__all__ = ["command_line"]

IDEA = IDEAS / "quote-then-abstain.md"
PROGRAM = Path(sys.executable).with_name("assayer")
AT = "@"
"""Stands for the file in question."""

READERS: dict[str, tuple[str, ...]] = {
    "idea": ("evaluate", "@.md"),
    "ideas": ("evaluate", "@.jsonl"),
    "pdf": ("evaluate", "@.pdf"),
    "office": ("evaluate", "@.docx"),
    "calibration": ("evaluate", str(IDEA), "--method", "innoeval", "--calibration", "@.json"),
    "missed references": ("references", "@.md"),
    "paper": ("paper", "@.pdf"),
    "tei": ("paper", "@.xml"),
    "rewards": ("reward", "@.jsonl"),
    "papers to curate": ("curate", "@.jsonl"),
    "questions": ("propose", "@.jsonl"),
    "ideas to score": ("score", "@.md"),
    "dimensions": ("score", str(IDEA), "--dimensions", "@.toml"),
    "report": ("brief", "@.json"),
    "records": ("corpus", "build", "@.jsonl"),
    "packed records": ("corpus", "build", "@.jsonl.gz"),
    "parquet": ("corpus", "build", "@.parquet"),
    "bibliography": ("corpus", "build", "@.bib"),
    "ids to remove": ("corpus", "update", "--remove", "@"),
    "records to ingest": ("corpus", "ingest", "jsonl", "@.jsonl", "--to", "ingested"),
    "data sets": ("corpus", "ingest", "s2", "@", "--to", "ingested"),
    "manifest": ("corpus", "ingest", "openalex", "@", "--to", "ingested"),
    "folder of tei": ("corpus", "ingest", "tei", "@", "--to", "records.jsonl"),
    "labels": (
        *("calibrate", "innoeval", "--labelled", "@.jsonl", "--reports", "."),
        *("--classes", "a,b", "--name", "n", "--source", "s"),
    ),
    "plan of a training": ("policy", "check", "@.toml"),
    "audit log": ("admin", "audit-log", "verify", "@.jsonl"),
    "labelled ideas": ("graph", "build", "@.jsonl"),
}

BROKEN: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "not utf-8": lambda path: path.write_bytes(b'{"title": "caf\xe9\xff"}\n'),
    "empty": lambda path: path.touch(),
    "torn": lambda path: path.write_bytes(b'{"a": '),
    "no object": lambda path: path.write_bytes(b"[1, 2]\n"),
    "too deep": lambda path: path.write_bytes(b"[" * 100_000 + b"]" * 100_000),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path),
}


@pytest.fixture(autouse=True)
def unreachable_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database and a model that are out of reach: whatever comes so far has found nothing wrong with its files."""
    monkeypatch.setattr(settings_loading, "SETTABLE", CONSTANTS)
    monkeypatch.setenv("ASSAYER_DATABASE__URL", "postgresql://nobody@127.0.0.1:9/none")
    monkeypatch.setenv("ASSAYER_DATABASE__CONNECT_SECONDS", "0.5")
    monkeypatch.setenv("ASSAYER_DATABASE__PATIENCE_SECONDS", "0.5")


def _fill_in_stem(arguments: tuple[str, ...], stem: str) -> list[str]:
    return [argument.replace(AT, stem) if argument.startswith(AT) else argument for argument in arguments]


def _get_file(arguments: tuple[str, ...], stem: str) -> Path:
    (name,) = (argument for argument in arguments if argument.startswith(AT))
    return Path(name.replace(AT, stem))


@pytest.mark.parametrize("reader", READERS)
def test_unusable_input_file_is_rejected_with_clear_message(command_line: CommandLine, reader: str) -> None:
    for fault, make in BROKEN.items():
        stem = fault.replace(" ", "-")
        make(_get_file(READERS[reader], stem))
        get_error_message(command_line(*_fill_in_stem(READERS[reader], stem)))


@pytest.mark.parametrize("reader", READERS)
def test_impossible_file_name_is_rejected_with_clear_message(command_line: CommandLine, reader: str) -> None:
    for stem in ("x" * 300, "a\udcff b"):
        assert len(get_error_message(command_line(*_fill_in_stem(READERS[reader], stem)))) < 2_000


WRITERS: dict[str, tuple[str, ...]] = {
    "reports": ("evaluate", str(IDEA), "--out", AT),
    "briefs": ("brief", "report.json", "--out", AT),
    "fetched reports": ("batch", "fetch", "ev_1", "--out", AT),
    "contestation": ("batch", "contestation", "ev_1", "--out", AT),
    "rewards": ("reward", "rewards.jsonl", "--out", AT),
    "proof": ("batch", "erase", "--source", "x", "--yes", "--proof", AT),
    "audit log": ("admin", "audit-log", "export", AT),
    "ingested": ("corpus", "ingest", "jsonl", "records.jsonl", "--to", AT),
    "copies": ("graph", "check", str(IDEA), str(IDEA), "--out", AT),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_output_path_below_a_file_is_rejected_and_file_survives(command_line: CommandLine, writer: str) -> None:
    Path("taken").write_text("mine")
    Path("records.jsonl").write_text('{"id": "1", "title": "A title", "abstract": "Some words."}\n')
    Path("rewards.jsonl").write_text('{"question": "q", "idea": "i", "abstract": "a"}\n')
    with run_script([build_problem("forbidden", 403)] * 3) as service, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAYER_API_URL", service.url)
        patch.setenv("ASSAYER_API_KEY", "ak_x")
        get_error_message(command_line(*_fill_in_stem(WRITERS[writer], "taken/below")))
    assert Path("taken").read_text() == "mine"


ASKING: dict[str, tuple[str, ...]] = {
    "list": ("batch", "list"),
    "usage": ("batch", "usage"),
    "watch": ("batch", "watch", "ev_1"),
    "cancel": ("batch", "cancel", "ev_1"),
    "retry": ("batch", "retry", "ev_1"),
    "fetch": ("batch", "fetch", "ev_1"),
    "compare": ("batch", "compare", "ev_1", "ev_2"),
    "shortlist": ("batch", "shortlist", "bt_1"),
    "timeline": ("batch", "timeline", "ev_1"),
    "submit": ("batch", "submit", str(IDEA)),
    "erase": ("batch", "erase", "--source", "x", "--yes"),
    "head": ("admin", "audit-log", "head"),
}


@pytest.mark.parametrize("arguments_text", ASKING)
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(build_problem("unauthorized", 401), id="wrong key"),
        pytest.param(answer("<html>hello</html>"), id="another program"),
        pytest.param(answer({"hello": 1}), id="other fields"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{,}", id="no JSON"
        ),
    ],
)
def test_unexpected_service_response_is_reported_with_clear_message(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, arguments_text: str, reply: bytes
) -> None:
    with run_script([reply] * 4) as service:
        monkeypatch.setenv("ASSAYER_API_URL", service.url)
        monkeypatch.setenv("ASSAYER_API_KEY", "ak_x")
        get_error_message(command_line(*ASKING[arguments_text]))


def _start_process(out: int | None = None) -> "subprocess.Popen[bytes]":
    command = [str(PROGRAM), "corpus", "plan", "--papers", "1000000"]
    return subprocess.Popen(command, stdout=out or subprocess.PIPE, stderr=subprocess.PIPE)


def test_closed_output_pipe_exits_without_error_message() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with _start_process(writing) as process:
        os.close(writing)
        _, err = process.communicate()
    assert (process.returncode, err) == (1, b"")


def test_full_output_disk_is_reported_as_failure() -> None:
    with open("/dev/full", "wb") as full, _start_process(full.fileno()) as process:
        _, err = process.communicate()
    assert process.returncode == 2
    assert b"No space left on device. Free some space" in err
    assert b"Traceback" not in err
