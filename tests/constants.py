"""Constants of the product as variables, so that tests can shorten its waits and shrink its work.

The product accepts only settings; a process of the tests also accepts `ASSAYER_…` variables of constants."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel

from cluster import settings_loading
from cluster.operator_settings import build_variable_name, find_nested_model, list_setting_paths
from cluster.settings import Settings


def _iterate_paths(model: type[BaseModel], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        inner = find_nested_model(field)
        if inner is None:
            yield (*prefix, name)
        else:
            yield from _iterate_paths(inner, (*prefix, name))


CONSTANTS = frozenset(_iterate_paths(Settings))
"""Paths of all fields of the settings."""

CONSTANT_VARIABLES = frozenset(map(build_variable_name, CONSTANTS - frozenset(list_setting_paths())))
"""Variables of the fields that are not settings."""
START = """
import sys; sys.path.insert(0, {root!r})
from tests.constants import accept_constants; accept_constants()
from cluster.cli.main import main; main()
"""
"""Program that runs a command and accepts variables of constants."""


def build_constant_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which Python processes accept these settings, if constants are among them."""
    if not {*settings} & CONSTANT_VARIABLES:
        return {}
    tests = Path(__file__).parent
    paths = (str(tests / "with_constants"), str(tests.parent), os.environ.get("PYTHONPATH", ""))
    return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def accept_constants() -> None:
    """Accept variables of all fields of the settings in this process."""
    settings_loading.SETTABLE = CONSTANTS
