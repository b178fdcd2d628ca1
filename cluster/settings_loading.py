"""Load the settings and explain errors in them.

Sources in order of precedence: command-line options, `ASSAYER_…` environment variables (`__` between levels), a TOML
file (`ASSAYER_CONFIG`, otherwise `assayer.toml` in the working directory), the profile, the defaults."""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import SettingsError

from assayer.errors import ConfigurationError
from cluster.settings import CHOSEN_LLM, Profile, Settings


def load_settings(profile: Profile = "laptop", model: str | None = None, **llm: Any) -> Settings:
    """Load the settings. `model` (`PROVIDER/NAME`) and `llm`, further settings of the language model, take precedence
    over all sources. Raises ConfigurationError naming the invalid setting."""
    environment = os.environ
    _refuse_unknown(environment)
    values: dict[str, Any] = _merge(_read_profile(profile), _read_file(environment))
    if model is not None:
        values[CHOSEN_LLM] = llm | {"model": model}
    try:
        return Settings(**values)
    except ValidationError as error:
        raise _explain(error) from None
    except SettingsError as error:
        raise _explain_undecodable(error, environment) from None


def _explain(error: ValidationError) -> ConfigurationError:
    """Describe the first invalid setting, named by its environment variable."""
    first = error.errors()[0]
    name = "ASSAYER_" + "__".join(str(part) for part in first["loc"]).upper()
    if first["type"] == "extra_forbidden":
        return _unknown_setting(name)
    said = first["msg"].removeprefix("Value error, ")
    message = f"{name}: {said}." if first["loc"] else f"{said}."
    return ConfigurationError(message, "Correct the environment variable or the configuration file.")


def _explain_undecodable(error: SettingsError, environment: Mapping[str, str]) -> ConfigurationError:
    """Find the environment variable whose text could not be decoded; only the underlying decoder error contains that
    text."""
    text = getattr(error.__cause__, "doc", None)
    name = next((name for name, value in environment.items() if name.startswith("ASSAYER_") and value == text), "")
    return ConfigurationError(f"{name or error} must be written as JSON.", "Correct the environment variable.")


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    """Raise an error for an unknown variable, because a misspelled variable would otherwise be ignored silently."""
    for variable in environment:
        path = variable.removeprefix("ASSAYER_").lower().split("__")
        if variable.startswith("ASSAYER_") and path != ["config"] and not _is_setting(Settings, path):
            raise _unknown_setting(variable)


def _unknown_setting(variable: str) -> ConfigurationError:
    known = ["ASSAYER_CONFIG", *variable_names(Settings, "ASSAYER_")]
    close = get_close_matches(variable, known, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}."
    return ConfigurationError(f"There is no setting {variable}.", hint)


def _is_setting(model: type[BaseModel], path: Sequence[str]) -> bool:
    field = model.model_fields.get(path[0])
    if field is None:
        return False
    inner = nested_model(field)
    return len(path) == 1 or inner is None or _is_setting(inner, path[1:])


def variable_names(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """Yield the environment variable of every setting."""
    for name, field in model.model_fields.items():
        inner = nested_model(field)
        yield from [f"{prefix}{name.upper()}"] if inner is None else variable_names(inner, f"{prefix}{name.upper()}__")


def nested_model(field: FieldInfo) -> type[BaseModel] | None:
    """Return the nested settings class of a field; None if it has none, as for a list of settings, which is a single
    value written in the file."""
    if get_origin(field.annotation) is tuple:
        return None
    kinds = get_args(field.annotation) or (field.annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _read_profile(profile: Profile) -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "profiles" / f"{profile}.toml").read_text("utf-8"))


def _read_file(environment: Mapping[str, str]) -> dict[str, Any]:
    named = environment.get("ASSAYER_CONFIG")
    path = Path(named or "assayer.toml")
    if not path.is_file():
        if named:
            raise ConfigurationError(f"ASSAYER_CONFIG names {path}, which is not a file.")
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.") from None


def _merge(weak: dict[str, Any], strong: dict[str, Any]) -> dict[str, Any]:
    merged = dict(weak)
    for key, value in strong.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged
