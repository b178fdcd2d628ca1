"""A log that was saved is there until a whole new one is, and what is no log is told in a sentence."""

import json
from pathlib import Path

import pytest

from tests.contract.command_line import CommandLine, command_line, get_error_message
from tests.contract.scripted_service import answer, build_problem, run_script
from tests.e2e.program import Ended

__all__ = ["command_line"]

LAST_WEEKS = "last week's saved log\n"
TIP = {"tenant": "acme", "number": 1, "hash": "0" * 64}


def build_page(next_: str | None) -> bytes:
    entry = {
        "tenant": "acme",
        "number": 1,
        "recorded_at": "2026-11-24T10:00:00Z",
        "actor": "mb_ann",
        "role": "reviewer",
        "action": "opinion",
        "subject": "ev_1",
        "content": {},
        "salt": "0" * 32,
        "content_hash": "0" * 64,
        "previous_hash": "0" * 64,
        "hash": "0" * 64,
    }
    return answer({"items": [entry], "next": next_, "reader": "owner"})


@pytest.fixture
def saved_log(tmp_path: Path) -> Path:
    log = tmp_path / "log.jsonl"
    log.write_text(LAST_WEEKS)
    return log


def export(command_line: CommandLine, saved: Path, monkeypatch: pytest.MonkeyPatch, *answers: bytes) -> Ended:
    with run_script(answers) as service:
        monkeypatch.setenv("ASSAYER_API_URL", service.url)
        monkeypatch.setenv("ASSAYER_API_KEY", "ak_x")
        return command_line("admin", "audit-log", "export", saved)


@pytest.mark.parametrize("pages", [(), (build_page("1"),)])
def test_export_rejected_at_once_or_midway_keeps_the_previously_saved_log(
    command_line: CommandLine, saved_log: Path, monkeypatch: pytest.MonkeyPatch, pages: tuple[bytes, ...]
) -> None:
    error_message = get_error_message(
        export(command_line, saved_log, monkeypatch, *pages, build_problem("forbidden", 403))
    )
    assert error_message.startswith("Error: ")
    assert saved_log.read_text() == LAST_WEEKS
    assert [path.name for path in saved_log.parent.iterdir()] == ["log.jsonl"]


def test_complete_export_replaces_the_previous_log(
    command_line: CommandLine, saved_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = export(command_line, saved_log, monkeypatch, build_page(None), answer(TIP))
    assert (result.code, result.out) == (0, f"1:{'0' * 64}\n")
    head, entry = map(json.loads, saved_log.read_text().splitlines())
    assert (head["reader"], entry["number"]) == ("owner", 1)


def test_export_into_missing_folder_is_rejected(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_API_KEY", "ak_x")
    error_message = get_error_message(command_line("admin", "audit-log", "export", "none/log.jsonl"))
    assert error_message == "Error: none/log.jsonl cannot be written: No such file or directory."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory"),
        (b"\xff\xfe\x00", "it is not text"),
        (b"{}\n", "line 1, is not an audit log entry"),
        (b"", "contains no entries"),
    ],
)
def test_invalid_audit_log_file_is_rejected(
    command_line: CommandLine, tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "log.jsonl").write_bytes(content)
    error_message = get_error_message(command_line("admin", "audit-log", "verify", "log.jsonl"))
    assert message in error_message


def test_folder_instead_of_audit_log_is_rejected(command_line: CommandLine, tmp_path: Path) -> None:
    assert "Is a directory" in get_error_message(command_line("admin", "audit-log", "verify", tmp_path))
