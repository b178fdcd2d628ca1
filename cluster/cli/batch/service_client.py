"""Code shared by the commands that call a running service: the client, and the kind of resource that an id names."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

from assayer.errors import AssayerError, InputError
from cluster.cli.terminal import print_remark
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.resources import Event, JobResource


class JobOperations(Protocol):
    """Client operations common to all kinds of jobs."""

    def get(self, id: str, /) -> "JobResource": ...
    def events(self, id: str, /) -> "Iterator[Event]": ...
    def cancel(self, id: str, /) -> "JobResource": ...


Kind = Literal["evaluation", "batch", "ranking", "comparison", "rewards", "curation", "candidate_ideas", "score"]

_KINDS: dict[str, Kind] = {
    "ev": "evaluation",
    "bt": "batch",
    "rk": "ranking",
    "cp": "comparison",
    "rw": "rewards",
    "cu": "curation",
    "ci": "candidate_ideas",
    "sc": "score",
}

KINDS: tuple[Kind, ...] = tuple(_KINDS.values())
"""Kinds of resources that have ids."""


@contextmanager
def open_service_client() -> "Iterator[Client]":
    """Open a client for the service named in the settings (ASSAYER_API_URL, ASSAYER_API_KEY)."""
    from pydantic import ValidationError

    from assayer_client import Client, ClientError, InvalidRequest

    _show_client_log()
    settings = load_settings()
    key = settings.api_key.get_secret_value() if settings.api_key else None
    try:
        with Client(settings.api_url, key) as client:
            yield client
    except ValidationError as error:  # the client found that the request exceeds the service's limits
        raise InputError(str(InvalidRequest.from_validation_error(error)), "See --help.") from error
    except ClientError as error:
        raise AssayerError(error.message, error.hint) from error


class _RemarkHandler(logging.Handler):
    """Log handler that shows the client's messages, such as those about retries."""

    def emit(self, record: logging.LogRecord) -> None:
        print_remark(record.getMessage())


def _show_client_log() -> None:
    log = logging.getLogger("assayer_client")
    if not log.handlers:
        log.addHandler(_RemarkHandler())
        log.setLevel(logging.INFO)


def identify_kind(identifier: str, *accepted: Kind) -> Kind:
    """Return the kind of resource that an id names. Raises InputError if it is not one of the accepted kinds."""
    kind = _KINDS.get(identifier.partition("_")[0])
    if kind is None or kind not in accepted:
        accepted_forms = " or ".join(
            f"{prefix}_… ({name.replace('_', ' ')})" for prefix, name in _KINDS.items() if name in accepted
        )
        raise InputError(f"{identifier!r} is not an id that this command accepts.", f"It accepts {accepted_forms}.")
    return kind


def get_job_operations(client: "Client", kind: Kind) -> JobOperations:
    """Return the client's operations for a kind of job other than a batch."""
    operations: dict[Kind, JobOperations] = {
        "evaluation": client.evaluations,
        "ranking": client.rankings,
        "comparison": client.comparisons,
        "rewards": client.rewards,
        "curation": client.curations,
        "candidate_ideas": client.candidate_ideas,
        "score": client.scores,
    }
    return operations[kind]
