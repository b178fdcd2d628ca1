"""Terminal output of texts from outside, which never contains a terminal command."""

import io
import re
from pathlib import Path

import pytest

from cluster.cli.evaluation_summary import SummaryRow, show_summary, show_summary_table
from cluster.cli.terminal import SafeConsole, print_error, print_remark, show_table
from tests.unit.reports_hostile import make_hostile_report

ESCAPES = "\x1b]0;pwned\x07\x1b[2J\x9b31m\x08\x7f\r\u202e"
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
CLI = Path(__file__).parents[2] / "cluster" / "cli"


def add_escapes(value: object) -> object:
    """Return the value with escape sequences before every text that contains the attack."""
    if isinstance(value, str):
        return ESCAPES + value if "<script>" in value else value
    if isinstance(value, dict):
        return {name: add_escapes(item) for name, item in value.items()}
    return [add_escapes(item) for item in value] if isinstance(value, list | tuple) else value


def test_summary_of_hostile_report_contains_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    hostile_report = make_hostile_report()
    report = type(hostile_report).model_validate(add_escapes(hostile_report.model_dump()))
    show_summary(report)
    show_summary_table([SummaryRow.from_report(report, [Path(f"out/{ESCAPES}.html")])])
    output = capsys.readouterr().out
    assert "Strengths" in output
    assert CONTROLS.search(output) is None


def test_remarks_errors_and_tables_contain_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_remark(f"Rejected: {ESCAPES}")
    print_error("Error:", f"{ESCAPES} is not a file.")
    show_table(["Title"], [[f"An idea {ESCAPES}"]])
    output = "".join(capsys.readouterr())
    assert "is not a file" in output
    assert CONTROLS.search(output) is None


def test_safe_console_keeps_its_own_colour_codes() -> None:
    console = SafeConsole(
        file=io.StringIO(), highlight=False, force_terminal=True, color_system="standard", legacy_windows=False
    )
    console.print(f"[red]wrong:[/] {ESCAPES}x")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith("\x1b[31mwrong:\x1b[0m \ufffd]0;pwned")


def test_every_command_prints_through_the_safe_console() -> None:
    sources = {
        file.name: file.read_text("utf-8").replace("class SafeConsole(Console)", "") for file in CLI.glob("*.py")
    }
    assert [name for name, text in sources.items() if re.search(r"(?<![\w.])Console\((?!\))", text)] == []
