"""Lines of the log: one JSON document each, with ids, and without what people wrote."""

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import ConfigurationError, Defect
from assayer.run.context_variables import log_context
from cluster.log import JsonLinesFormatter, configure_log
from cluster.settings import LogSettings

IDEA = "We count wild bees along hedgerows over three summers."
LOG = logging.getLogger("assayer.of_this_test")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """A file; the process's own handlers are put back."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    libraries = {name: logging.getLogger(name).level for name in logging.root.manager.loggerDict}
    root.handlers = []
    file = tmp_path / "logs" / "service.jsonl"
    configure_log(LogSettings(file=file))
    try:
        yield file
    finally:
        for handler in root.handlers:
            handler.close()
        root.handlers = handlers
        root.setLevel(level)
        logging.captureWarnings(False)
        for name, before in libraries.items():
            logging.getLogger(name).setLevel(before)


def read_log(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def fail() -> None:
    try:
        int(IDEA)
    except ValueError as error:
        raise Defect(f"assayer failed: {error}") from error


async def test_log_lines_in_all_tasks_carry_job_and_tenant_ids(log: Path) -> None:
    async def log_step(name: str) -> None:
        with log_context(run=name):
            await asyncio.sleep(0)
            LOG.warning("a step of %s", name)

    with log_context(job="ev_1", tenant="bees"):
        await asyncio.gather(log_step("a"), log_step("b"))
    LOG.info("afterwards")
    log_lines = read_log(log)
    assert [(line.get("job"), line.get("tenant"), line.get("run"), line["message"]) for line in log_lines] == [
        ("ev_1", "bees", "a", "a step of a"),
        ("ev_1", "bees", "b", "a step of b"),
        (None, None, None, "afterwards"),
    ]
    assert [line["level"] for line in log_lines] == ["warning", "warning", "info"]


def test_error_is_logged_by_type_and_location_without_message(log: Path) -> None:
    try:
        fail()
    except Defect:
        LOG.exception("job %s", "ev_1")
    (line,) = read_log(log)
    assert [error["kind"] for error in line["errors"]] == ["assayer.errors.Defect", "builtins.ValueError"]
    assert line["errors"][0]["places"][-1].startswith("tests/unit/test_log.py:")
    assert line["errors"][0]["places"][-1].endswith(" fail")
    assert "bees" not in log.read_text("utf-8")


@pytest.mark.parametrize(
    "secret", ["ak_1aB_" + "x" * 43, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "sk-proj-aBcDeFgHiJkLmNoPqRs"]
)
def test_secret_in_a_message_is_masked(log: Path, secret: str) -> None:
    LOG.warning("refused: %s", secret)
    assert secret not in log.read_text("utf-8")
    assert read_log(log)[0]["message"].endswith("…")


def test_line_break_in_message_does_not_split_the_log_line(log: Path) -> None:
    LOG.warning("one\ntwo")
    assert [line["message"] for line in read_log(log)] == ["one\ntwo"]


def test_log_file_moved_away_is_recreated(log: Path) -> None:
    LOG.warning("one")
    log.rename(log.with_suffix(".1"))
    LOG.warning("two")
    assert [line["message"] for line in read_log(log)] == ["two"]


def test_a_file_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(ConfigurationError, match="ASSAYER_LOG__FILE"):
        configure_log(LogSettings(file=tmp_path / "logs" / "service.jsonl"))


def test_extra_fields_are_written_with_the_message() -> None:
    record = logging.LogRecord("assayer.access", logging.INFO, "", 0, "GET %s", ("/healthz",), None)
    record.told = {"status": 200}
    line = json.loads(JsonLinesFormatter().format(record))
    assert (line["message"], line["status"], line["logger"]) == ("GET /healthz", 200, "assayer.access")
