"""What the commands that talk to a running service share: its client, and what an id names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from assayer.errors import AssayerError, InputError
from cluster.settings import PROFILES, Profile
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.item_jobs import ItemJobs

__all__ = ["KINDS", "Kind", "item_jobs", "kind_of", "service"]


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
"""Of all that has an id."""


@contextmanager
def service(profile: Profile = PROFILES[0]) -> "Iterator[Client]":
    """A client of the service that the settings name (ASSAYER_API_URL, ASSAYER_API_KEY)."""
    from assayer_client import Client, ClientError

    settings = load_settings(profile)
    key = settings.api_key.get_secret_value() if settings.api_key else None
    try:
        with Client(settings.api_url, key) as client:
            yield client
    except ClientError as error:
        raise AssayerError(error.message, error.hint) from error


def kind_of(identifier: str, *accepted: Kind) -> Kind:
    """Raises InputError for an id of something else."""
    kind = _KINDS.get(identifier.partition("_")[0])
    if kind is None or kind not in accepted:
        wanted = " or ".join(f"{prefix}_… ({name})" for prefix, name in _KINDS.items() if name in accepted)
        raise InputError(f"{identifier!r} is no id that this command takes.", f"It takes {wanted}.")
    return kind


def item_jobs(
    client: "Client", kind: Literal["rewards", "curation", "proposal", "score"]
) -> "ItemJobs[Any, Any, Any, Any]":
    """What the client offers of jobs of many items."""
    match kind:
        case "rewards":
            return client.rewards
        case "curation":
            return client.curations
        case "proposal":
            return client.proposals
        case "score":
            return client.scores
