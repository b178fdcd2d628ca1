"""What the command line prints of texts from outside: never a command to the terminal."""

import io
import re
from pathlib import Path

import pytest

from cluster.cli.evaluation_summary import SummaryRow, show_summary, show_summary_table
from cluster.cli.terminal import SafeConsole, print_error, remark, show_table
from tests.unit.reports_hostile import hostile_report

ESCAPES = "\x1b]0;pwned\x07\x1b[2J\x9b31m\x08\x7f\r\u202e"
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
CLI = Path(__file__).parents[2] / "cluster" / "cli"


def with_escapes(value: object) -> object:
    """In front of every text that the attack stands in front of."""
    if isinstance(value, str):
        return ESCAPES + value if "<script>" in value else value
    if isinstance(value, dict):
        return {name: with_escapes(one) for name, one in value.items()}
    return [with_escapes(one) for one in value] if isinstance(value, list | tuple) else value


def test_summary_of_a_hostile_report_holds_no_control_character() -> None:
    hostile = hostile_report()
    report = type(hostile).model_validate(with_escapes(hostile.model_dump()))
    console = SafeConsole(file=io.StringIO(), highlight=False, width=200)
    show_summary(console, report)
    show_summary_table(console, [SummaryRow.of(report, [Path(f"out/{ESCAPES}.html")])])
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "Strengths" in shown
    assert CONTROLS.search(shown) is None


def test_remarks_errors_and_tables_hold_no_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    remark(f"Rejected: {ESCAPES}")
    print_error("Error:", f"{ESCAPES} is not a file.")
    show_table(["Title"], [[f"An idea {ESCAPES}"]])
    shown = "".join(capsys.readouterr())
    assert "is not a file" in shown
    assert CONTROLS.search(shown) is None


def test_colours_reach_a_terminal_all_the_same() -> None:
    console = SafeConsole(
        file=io.StringIO(), highlight=False, force_terminal=True, color_system="standard", legacy_windows=False
    )
    console.print(f"[red]wrong:[/] {ESCAPES}x")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith("\x1b[31mwrong:\x1b[0m \ufffd]0;pwned")


@pytest.mark.parametrize("file", sorted(CLI.glob("*.py")), ids=lambda file: file.name)
def test_every_command_prints_by_that_console(file: Path) -> None:
    assert (
        re.search(r"(?<![\w.])Console\((?!\))", file.read_text("utf-8").replace("class SafeConsole(Console)", ""))
        is None
    )
