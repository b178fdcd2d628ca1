"""What the commands that ask a running service share: its client, what an id names, words on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from assayer.errors import InputError
from cluster.settings import PROFILES, Profile, load_settings

if TYPE_CHECKING:
    from orchestrator.client import Client

__all__ = ["Kind", "WithProfile", "kind_of", "remark", "service"]

Kind = Literal["evaluation", "batch", "ranking", "comparison"]
WithProfile = Annotated[Profile, typer.Option("--profile", help="Named settings.")]
_KINDS: dict[str, Kind] = {"ev": "evaluation", "bt": "batch", "rk": "ranking", "cp": "comparison"}


@contextmanager
def service(profile: Profile = PROFILES[0]) -> "Iterator[Client]":
    """A client of the service that the settings name (ASSAYER_API_URL, ASSAYER_API_KEY)."""
    from orchestrator.client import Client

    settings = load_settings(profile)
    key = settings.api_key.get_secret_value() if settings.api_key else None
    with Client(settings.api_url, key) as client:
        yield client


def kind_of(identifier: str, *accepted: Kind) -> Kind:
    """Raises InputError for an id of something else."""
    kind = _KINDS.get(identifier.partition("_")[0])
    if kind is None or kind not in accepted:
        wanted = " or ".join(f"{prefix}_… ({name})" for prefix, name in _KINDS.items() if name in accepted)
        raise InputError(f"{identifier!r} is no id that this command takes.", f"It takes {wanted}.")
    return kind


def remark(text: str) -> None:
    """For people; standard output is for what other programs read."""
    Console(stderr=True, highlight=False).print(escape(text), soft_wrap=True)
