"""Shared code of the commands that use a running service: its client, and the resource kind of an id."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

from assayer.errors import AssayerError, InputError
from cluster.cli.terminal import remark
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.resources import Event, JobResource


class JobOperations(Protocol):
    """Client operations common to all kinds of jobs."""

    def get(self, id: str, /) -> "JobResource": ...
    def events(self, id: str, /) -> "Iterator[Event]": ...
    def cancel(self, id: str, /) -> "JobResource": ...


Kind = Literal["evaluation", "batch", "ranking", "comparison", "rewards", "curation", "proposal", "score"]

_KINDS: dict[str, Kind] = {
    "ev": "evaluation",
    "bt": "batch",
    "rk": "ranking",
    "cp": "comparison",
    "rw": "rewards",
    "cu": "curation",
    "pr": "proposal",
    "sc": "score",
}

KINDS: tuple[Kind, ...] = tuple(_KINDS.values())
"""Resource kinds that have ids."""


@contextmanager
def service() -> "Iterator[Client]":
    """Open a client of the service configured in the settings (ASSAYER_API_URL, ASSAYER_API_KEY)."""
    from pydantic import ValidationError

    from assayer_client import Client, ClientError, InvalidRequest

    _tell_retries()
    settings = load_settings()
    key = settings.api_key.get_secret_value() if settings.api_key else None
    try:
        with Client(settings.api_url, key) as client:
            yield client
    except ValidationError as error:  # a request body breaks the service's limits, which the client checks
        raise InputError(str(InvalidRequest.of(error)), "See --help.") from error
    except ClientError as error:
        raise AssayerError(error.message, error.hint) from error


class _Remarks(logging.Handler):
    """Handler that shows the client's log messages, such as messages about retries."""

    def emit(self, record: logging.LogRecord) -> None:
        remark(record.getMessage())


def _tell_retries() -> None:
    log = logging.getLogger("assayer_client")
    if not log.handlers:
        log.addHandler(_Remarks())
        log.setLevel(logging.INFO)


def kind_of(identifier: str, *accepted: Kind) -> Kind:
    """Return the kind of an id. Raises InputError if it is none of the accepted kinds."""
    kind = _KINDS.get(identifier.partition("_")[0])
    if kind is None or kind not in accepted:
        wanted = " or ".join(f"{prefix}_… ({name})" for prefix, name in _KINDS.items() if name in accepted)
        raise InputError(f"{identifier!r} is not an id that this command accepts.", f"It accepts {wanted}.")
    return kind


def job_operations(client: "Client", kind: Kind) -> JobOperations:
    """Return the client's operations for jobs of a kind other than a batch."""
    operations: dict[Kind, JobOperations] = {
        "evaluation": client.evaluations,
        "ranking": client.rankings,
        "comparison": client.comparisons,
        "rewards": client.rewards,
        "curation": client.curations,
        "proposal": client.proposals,
        "score": client.scores,
    }
    return operations[kind]
