"""Language model providers from `providers.toml`: base URLs, the environment variables for users' keys, and prices."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from assayer.errors import ConfigurationError
from assayer.models import Frozen
from workers.llm.settings import Price, StructuredSetting

_DEFAULT_PROVIDER = "openai"
_SNAPSHOT_DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
_OTHER_MODELS = ("fast_model", "judge_model")


class KnownModel(Frozen):
    """Model for which the provider states a price or a context window in tokens."""

    price: Price | None = None
    context: int | None = None


class Provider(Frozen):
    """Provider of models at an OpenAI-compatible endpoint. `providers.toml` explains the fields."""

    base_url: str | None = None
    address_variable: str | None = None
    path: str = ""
    key_variables: tuple[str, ...] = ()
    structured: StructuredSetting | None = None
    batches: Literal["openai", "none"] = "none"
    checked: date | None = None
    models: dict[str, KnownModel] = Field(default_factory=dict)

    def model(self, name: str) -> KnownModel:
        """Return a model's entry or, for a dated snapshot, that of the model behind it; an empty entry if there is
        neither."""
        return self.models.get(name) or self.models.get(_SNAPSHOT_DATE.sub("", name)) or KnownModel()

    def find_address(self, environment: Mapping[str, str]) -> str | None:
        """Return the base URL in the user's variable or, if that is not set, the provider's own; None if there is
        neither."""
        configured_address = environment.get(self.address_variable or "", "").strip().rstrip("/")
        if not configured_address:
            return self.base_url
        address = configured_address if "://" in configured_address else f"http://{configured_address}"
        return address if address.endswith(self.path) else address + self.path


@cache
def load_providers() -> Mapping[str, Provider]:
    """Return all providers, keyed by name. A provider's name is the prefix in the names of its models."""
    text = files("workers.llm").joinpath("providers.toml").read_text("utf-8")
    return TypeAdapter(dict[str, Provider]).validate_python(tomllib.loads(text))


def find_provider(base_url: str) -> tuple[str, Provider] | None:
    """Return the name and entry of the provider with this base URL; None if there is none."""
    return next(
        ((name, entry) for name, entry in load_providers().items() if entry.base_url == base_url.rstrip("/")), None
    )


def list_keys_set(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the providers whose keys are set in the environment, each with its variable."""
    provider_variables = (
        (name, variable) for name, entry in load_providers().items() for variable in entry.key_variables
    )
    return [(name, variable) for name, variable in provider_variables if environment.get(variable)]


def complete_llm_settings(llm: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Complete a language model's settings from the provider with which the model's name begins, as in
    `anthropic/claude-…`, or from OpenAI for a name without a provider. Settings with a base URL are returned unchanged,
    because that endpoint serves the model under its whole name.

    A provider's key is sent only to the provider's own URL, or to the URL in the provider's variable. Raises
    ConfigurationError if the provider is unknown, or its URL or key is missing."""
    if "base_url" in llm:
        return dict(llm)
    name, provider, model = _resolve_provider(str(llm["model"]), environment)
    base_url = provider.find_address(environment)
    if base_url is None:
        raise ConfigurationError(
            f"{provider.address_variable} is not set, but models from {name} need it.",
            f"Set {provider.address_variable} to the URL of your resource.",
        )
    variable = _find_key_variable(name, provider, base_url, llm, environment)
    llm_settings: dict[str, Any] = {"base_url": base_url}
    if variable is not None and not llm.get("api_key"):
        llm_settings |= {"api_key": environment[variable], "key_variable": variable}
    if provider.structured is not None:
        llm_settings["structured"] = provider.structured
    llm_settings |= {**llm, "model": model}
    llm_settings |= {field: _get_name_at_provider(str(llm[field]), name) for field in _OTHER_MODELS if llm.get(field)}
    prices_by_model = {
        used_model: provider.model(used_model).price
        for used_model in (model, *(llm_settings.get(field) for field in _OTHER_MODELS))
        if used_model
    }
    prices = {used_model: price for used_model, price in prices_by_model.items() if price is not None}
    return llm_settings | {"prices": {**prices, **llm["prices"]} if isinstance(llm.get("prices"), Mapping) else prices}


def _resolve_provider(model: str, environment: Mapping[str, str]) -> tuple[str, Provider, str]:
    """Return the provider's name, the provider, and the model's name at that provider."""
    default = load_providers()[_DEFAULT_PROVIDER]
    name, separator, name_at_provider = model.partition("/")
    if not separator:
        return _DEFAULT_PROVIDER, default, model
    provider = load_providers().get(name.lower())
    if provider is not None and name_at_provider:
        return name.lower(), provider, name_at_provider
    if environment.get(default.address_variable or ""):
        return _DEFAULT_PROVIDER, default, model
    raise ConfigurationError(
        f"Unknown provider {name!r} in the model name {model!r}.",
        f"Providers: {', '.join(load_providers())}. "
        "For any other OpenAI-compatible endpoint set ASSAYER_LLM__BASE_URL.",
    )


def _find_key_variable(
    name: str, provider: Provider, base_url: str, llm: Mapping[str, Any], environment: Mapping[str, str]
) -> str | None:
    """Return the provider's variable that holds the user's key; None if there is none."""
    variable = next((variable for variable in provider.key_variables if environment.get(variable)), None)
    # A user's own server, set in the provider's variable, may not need a key.
    needs_key = bool(provider.key_variables) and (provider.base_url is None or base_url == provider.base_url)
    if variable is None and needs_key and not llm.get("api_key"):
        raise ConfigurationError(
            f"{' or '.join(provider.key_variables)} is not set, but models from {name} need it.",
            "Set it to your API key.",
        )
    return variable


def _get_name_at_provider(model: str, name: str) -> str:
    """Return the model's name at the provider. Raises ConfigurationError if `model` names a different provider."""
    prefix, separator, name_at_provider = model.partition("/")
    if not separator or prefix == name:
        return name_at_provider or model
    if prefix in load_providers() and name != "openrouter":
        raise ConfigurationError(
            f"{name} does not serve the model {model!r}, and all configured models must share one endpoint.",
            f"Choose models from {name} for ASSAYER_LLM__FAST_MODEL and ASSAYER_LLM__JUDGE_MODEL.",
        )
    return model
