"""Load the settings, and explain errors in them.

Sources in order of precedence: command-line options, `ASSAYER_…` environment variables (`__` between levels), a TOML
file (`ASSAYER_CONFIG`, otherwise `assayer.toml` in the working directory), the profile, the defaults."""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_settings import SettingsError

from assayer.errors import ConfigurationError
from cluster.operator_settings import build_variable_name, list_setting_paths
from cluster.settings import CHOSEN_LLM, Profile, Settings
from cluster.settings_file import SettingsFile, read_settings_file

Paths = tuple[str, ...]

SETTABLE: frozenset[Paths] = frozenset(list_setting_paths())
"""Paths of the settings that variables and files may name."""


class SettingsSources(NamedTuple):
    """Sources from which settings are read, highest precedence first."""

    environment: Mapping[str, str]
    file: SettingsFile
    profile: Mapping[str, Any]
    profile_name: Profile

    def find_origin(self, path: Paths) -> str | None:
        """Return where a value comes from; None if no source sets it."""
        if self.environment.get(build_variable_name(path)):
            return f"environment, {build_variable_name(path)}"
        if has_value_at(self.file.values, path):
            return self.file.place(path)
        return f"profile {self.profile_name}" if has_value_at(self.profile, path) else None


def load_settings(profile: Profile = "laptop", model: str | None = None, **llm: Any) -> Settings:
    """Load the settings. `model` (`PROVIDER/NAME`) and the language model settings in `llm` take precedence over all
    sources. Raises ConfigurationError, which names the invalid setting."""
    sources = open_sources(profile)
    values: dict[str, Any] = _merge(sources.profile, sources.file.values)
    if model is not None:
        values[CHOSEN_LLM] = llm | {"model": model}
    try:
        return Settings(**values)
    except ValidationError as error:
        raise _explain(error, sources) from None
    except SettingsError as error:
        raise _explain_undecodable(error, sources.environment) from None


def open_sources(profile: Profile) -> SettingsSources:
    """Read all sources. Raises ConfigurationError if one of them names a setting that does not exist."""
    environment = os.environ
    _refuse_unknown_variables(environment)
    file = read_settings_file(environment.get("ASSAYER_CONFIG"))
    for path in list_leaves(file.values):
        if not _is_known(path):
            raise ConfigurationError(
                f"{file.place(path)}: unknown setting {'.'.join(path)}.", _suggest_name(".".join(path), ".".join)
            )
    return SettingsSources(environment, file, _read_profile(profile), profile)


def _explain(error: ValidationError, sources: SettingsSources) -> ConfigurationError:
    """Describe the first invalid setting, named by its environment variable or its line in the file."""
    first_error = error.errors()[0]
    path = tuple(map(str, first_error["loc"]))
    place = next(
        (sources.file.place(path[:n]) for n in range(len(path), 0, -1) if _is_set_in_file(sources, path[:n])), None
    )
    name = f"{place}: {'.'.join(path)}" if place else build_variable_name(path)
    detail = first_error["msg"].removeprefix("Value error, ")
    message = f"{name}: {detail}." if path else f"{detail}."
    return ConfigurationError(message, "Correct the environment variable or the configuration file.")


def _is_set_in_file(sources: SettingsSources, path: Paths) -> bool:
    """Return whether the file, rather than an environment variable, sets the path."""
    return has_value_at(sources.file.values, path) and not sources.environment.get(build_variable_name(path))


def _explain_undecodable(error: SettingsError, environment: Mapping[str, str]) -> ConfigurationError:
    """Find the environment variable whose text could not be decoded. Only the underlying decoder error contains that
    text."""
    text = getattr(error.__cause__, "doc", None)
    name = next((name for name, value in environment.items() if name.startswith("ASSAYER_") and value == text), "")
    return ConfigurationError(f"{name or error} must be written as JSON.", "Correct the environment variable.")


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    """Raise ConfigurationError for an unknown variable, because a misspelled variable would otherwise be ignored
    silently."""
    for variable in environment:
        if not variable.startswith("ASSAYER_") or variable == "ASSAYER_CONFIG":
            continue
        if tuple(variable.removeprefix("ASSAYER_").lower().split("__")) not in SETTABLE:
            raise ConfigurationError(f"Unknown setting {variable}.", _suggest_name(variable, build_variable_name))


def _suggest_name(name: str, value: Any) -> str:
    close = get_close_matches(name, map(value, SETTABLE), n=1, cutoff=0.75)
    return f"Did you mean {close[0]}?" if close else "`assayer config show` lists all settings."


def _is_known(path: Paths) -> bool:
    """Return whether a path in a file is a setting or lies within one, such as a model's price."""
    return any(path[:length] in SETTABLE for length in range(1, len(path) + 1))


def list_leaves(values: Mapping[str, Any], prefix: Paths = ()) -> Iterator[Paths]:
    """Yield the path of every value that is not a table, and of every empty table."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from list_leaves(value, (*prefix, name))
        else:
            yield (*prefix, name)


def has_value_at(values: Any, path: Sequence[str]) -> bool:
    """Return whether nested values contain anything at the path."""
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return False
        values = values[name]
    return True


def _read_profile(profile: Profile) -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "profiles" / f"{profile}.toml").read_text("utf-8"))


def _merge(weak: Mapping[str, Any], strong: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(weak)
    for key, value in strong.items():
        both_are_tables = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both_are_tables else value
    return merged
