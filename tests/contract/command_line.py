"""`assayer …` in this process: quick enough to try every command with whatever goes wrong."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cluster.cli.main import main
from tests.e2e.program import Ended

CommandLine = Callable[..., Ended]


@contextmanager
def _restore_signal_handlers() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@pytest.fixture
def command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Return a function that runs a command line in `tmp_path`, with a folder in it as the data directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAYER_HOME", str(tmp_path / "home"))

    def run(*arguments: object) -> Ended:
        """Run the command line.

        Any exception other than SystemExit, which a user would see as a traceback, is raised."""
        monkeypatch.setattr(sys, "argv", ["assayer", *map(str, arguments)])
        code = 0
        with _restore_signal_handlers():
            try:
                main()
            except SystemExit as result:
                code = result.code if isinstance(result.code, int) else int(result.code is not None)
        output = capsys.readouterr()
        return Ended(code, output.out, output.err)

    return run


def get_error_message(result: Ended) -> str:
    """The last thing that is said of a command that failed; nothing looks like success or like a traceback."""
    assert result.code not in (0, None), result
    assert "Traceback" not in result.out + result.err
    assert result.err.strip(), result
    return result.err.strip().splitlines()[-1]
