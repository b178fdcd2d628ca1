"""Constants of the product as variables, so that tests can shorten its waits and shrink its work.

The product accepts only settings; a process of the tests also accepts `ASSAYER_…` variables of constants."""

from collections.abc import Iterator

from pydantic import BaseModel

from cluster import settings_loading
from cluster.operator_settings import nested_model
from cluster.settings import Settings


def _paths(model: type[BaseModel], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        inner = nested_model(field)
        if inner is None:
            yield (*prefix, name)
        else:
            yield from _paths(inner, (*prefix, name))


CONSTANTS = frozenset(_paths(Settings))
"""Paths of all fields of the settings."""


def accept_constants() -> None:
    """Accept variables of all fields of the settings in this process."""
    settings_loading.SETTABLE = CONSTANTS
