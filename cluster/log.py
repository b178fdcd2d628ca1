"""Service log: one JSON object per line, with the ids of requests, jobs and tenants but no submitted texts."""

import datetime as dt
import json
import logging
import re
import sys
import traceback
from collections.abc import Iterator
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from assayer import version
from assayer.errors import ConfigurationError
from assayer.run.context_variables import get_log_context
from cluster.settings import LogSettings

_SECRET = re.compile(r"\b((?:ak|whsec|sk)[_-][A-Za-z0-9]{0,8})[A-Za-z0-9_/+=-]{12,}")
_ROOT = Path(version.__file__).parents[1]
_LIBRARIES = ("uvicorn", "ray", "httpx2", "sentence_transformers")
"""Libraries that log too much at level INFO, so that their level is at least WARNING."""


class JsonLinesFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time_text = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "at": time_text,
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            **get_log_context(),
            **getattr(record, "told", {}),
            "message": _SECRET.sub(r"\1…", record.getMessage()),
        }
        if record.exc_info is not None and (error := record.exc_info[1]) is not None:
            line["errors"] = list(_format_errors(error))
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_log(settings: LogSettings, otherwise: Path | None = None) -> None:
    """Configure this process's logging. If the settings name no file, log to `otherwise` or, if that is None, to
    standard error. Raises ConfigurationError if the file cannot be opened."""
    file = settings.file or otherwise
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if file is not None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handler = WatchedFileHandler(file, encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(
                f"The log file {file} cannot be written: {error.strerror}.", "Set ASSAYER_LOG__FILE to another file."
            ) from None
    handler.setFormatter(JsonLinesFormatter())
    logging.basicConfig(handlers=[handler], level=settings.level.upper(), force=True)
    logging.captureWarnings(True)
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.root.level))


def _format_errors(error: BaseException | None) -> Iterator[dict[str, Any]]:
    """Yield the type and stack of an error and of each of its causes. Messages are omitted, because they may quote the
    input that caused the error."""
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        frame_texts = [f"{_format_file_name(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
        yield {"kind": f"{type(error).__module__}.{type(error).__qualname__}", "places": frame_texts}
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _format_file_name(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(_ROOT)) if path.is_relative_to(_ROOT) else filename
