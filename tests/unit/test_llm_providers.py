"""Models named with their provider: address, key, price, and a sentence for whatever is missing."""

from typing import Any

import pytest
from pydantic import ValidationError

from assayer.errors import ConfigurationError
from cluster.settings import CHOSEN_LLM, Settings
from workers.llm.providers import complete_llm_settings, find_provider, list_keys_set, load_providers

KEYS = {name: f"key-of-{name}" for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY")}


def complete_settings(model: str, environment: dict[str, str] = KEYS, **llm: Any) -> dict[str, Any]:
    return complete_llm_settings({"model": model, **llm}, environment)


@pytest.mark.parametrize("name", load_providers())
def test_every_provider_uses_its_own_environment_variables(name: str) -> None:
    entry = load_providers()[name]
    variables = dict.fromkeys(entry.key_variables[:1], "key")
    if entry.base_url is None:
        variables[str(entry.address_variable)] = "https://mine.example.org"
    llm = complete_settings(f"{name}/some-model", variables)
    settings = Settings(llm=llm).llm  # type: ignore[arg-type]  # a mapping is validated
    assert settings is not None
    assert settings.model == "some-model"
    assert settings.api_key.get_secret_value() == ("key" if entry.key_variables else "")
    assert settings.base_url == (entry.base_url or "https://mine.example.org/openai/v1")
    assert settings.variable_in_use == (entry.key_variables[0] if entry.key_variables else "")


@pytest.mark.parametrize("name", [name for name, entry in load_providers().items() if entry.key_variables])
def test_missing_key_is_named(name: str) -> None:
    entry = load_providers()[name]
    with pytest.raises(ConfigurationError, match=f"{entry.key_variables[0]}.* not set"):
        complete_settings(
            f"{name}/m", {str(entry.address_variable): "https://mine.example.org"} if not entry.base_url else {}
        )


def test_azure_without_its_address_names_the_variable() -> None:
    with pytest.raises(ConfigurationError, match="AZURE_OPENAI_ENDPOINT is not set"):
        complete_settings("azure/my-deployment")


def test_key_in_assayer_settings_takes_precedence() -> None:
    assert complete_settings("anthropic/m", api_key="ours")["api_key"] == "ours"
    assert complete_settings("anthropic/m", {}, api_key="ours")["api_key"] == "ours"
    assert "key_variable" not in complete_settings("anthropic/m", api_key="ours")


def test_key_is_not_used_for_another_provider() -> None:
    assert complete_settings("anthropic/m")["api_key"] == "key-of-ANTHROPIC_API_KEY"
    assert "api_key" not in complete_settings("ollama/m")


def test_providers_whose_key_is_set_are_named_with_the_variable() -> None:
    assert list_keys_set({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "", "PATH": "/bin"}) == [
        ("anthropic", "ANTHROPIC_API_KEY")
    ]


def test_base_url_in_settings_keeps_full_model_name() -> None:
    llm = {"model": "openai/gpt-oss-20b", "base_url": "http://gpu-box/v1"}
    assert complete_llm_settings(llm, KEYS) == llm


def test_unknown_provider_is_refused_unless_openai_variables_name_an_endpoint() -> None:
    with pytest.raises(ConfigurationError, match=r"Unknown provider 'meta-llama'.*Providers: openai, azure"):
        complete_settings("meta-llama/Llama-3.3")
    llm = complete_settings("meta-llama/Llama-3.3", {"OPENAI_BASE_URL": "http://gpu-box/v1"})
    assert (llm["base_url"], llm["model"]) == ("http://gpu-box/v1", "meta-llama/Llama-3.3")


def test_address_without_scheme_is_completed() -> None:
    assert (
        complete_settings("ollama/qwen3:8b", {"OLLAMA_HOST": "gpu-box:11434"})["base_url"] == "http://gpu-box:11434/v1"
    )
    azure = {"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/", "AZURE_OPENAI_API_KEY": "k"}
    assert complete_settings("azure/d", azure)["base_url"] == "https://r.openai.azure.com/openai/v1"


def test_additional_models_must_use_the_same_provider() -> None:
    llm = complete_settings("openai/gpt-6-sol", fast_model="openai/gpt-6-luna")
    assert llm["fast_model"] == "gpt-6-luna"
    assert set(llm["prices"]) == {"gpt-6-sol", "gpt-6-luna"}
    with pytest.raises(ConfigurationError, match="openai does not serve the model"):
        complete_settings("openai/gpt-6-sol", fast_model="anthropic/claude-sonnet-5-5")
    routed = complete_settings("openrouter/a/b", {"OPENROUTER_API_KEY": "k"}, judge_model="anthropic/claude-opus-5-5")
    assert (routed["model"], routed["judge_model"]) == ("a/b", "anthropic/claude-opus-5-5")


def test_user_price_overrides_price_table_including_dated_snapshots() -> None:
    model = "claude-sonnet-5-5-20260928"
    assert complete_settings(f"anthropic/{model}")["prices"][model][:2] == (2.0, 10.0)
    assert complete_settings(f"anthropic/{model}", prices={model: [1, 2]})["prices"] == {model: [1, 2]}
    assert complete_settings("anthropic/unheard-of")["prices"] == {}


def test_batches_are_rejected_for_providers_without_openai_batches() -> None:
    llm = {"model": "anthropic/m", "api_key": "k", "batch": {"enabled": True}}
    with pytest.raises(ValidationError, match="anthropic has no OpenAI-compatible batch API"):
        Settings.model_validate({"llm": llm})


def test_command_line_choice_overrides_all_other_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_LLM__MODEL", "of the variable")
    chosen = {"model": "vllm/mine", "seed": 7}
    llm = Settings(**{CHOSEN_LLM: chosen}).llm  # type: ignore[arg-type]
    assert llm is not None
    assert (llm.model, llm.seed, llm.base_url) == ("mine", 7, "http://127.0.0.1:8000/v1")


def test_provider_is_recognised_by_its_address() -> None:
    provider = find_provider("https://api.mistral.ai/v1/")
    assert provider is not None
    assert provider[0] == "mistral"
    assert find_provider("http://127.0.0.1:1/v1") is None
