"""Where settings come from, and what is said of those that cannot be."""

import os
from pathlib import Path

import pytest

from assayer.errors import ConfigurationError
from cluster.settings import PROFILES, Settings
from cluster.settings_loading import load_settings


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is set, and no file lies in the working directory."""
    for name in list(os.environ):
        if name.startswith(("ASSAYER_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def _with(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load_settings()


def _refusal(monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        _with(monkeypatch, **variables)
    return str(caught.value)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_is_valid(profile: str) -> None:
    loaded = load_settings(profile)  # type: ignore[arg-type]  # the names are listed beside the type
    assert (loaded.llm is None) == (profile != "simulate")


def test_model_without_base_url_uses_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = _with(monkeypatch, ASSAYER_LLM__MODEL="m", OPENAI_API_KEY="k").llm
    assert llm is not None
    assert (llm.base_url, llm.api_key.get_secret_value()) == ("https://api.openai.com/v1", "k")


def test_api_key_without_model_configures_no_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _with(monkeypatch, OPENAI_API_KEY="k").llm is None
    assert _with(monkeypatch, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="k").llm is None


def test_openai_base_url_and_key_apply_when_model_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = _with(monkeypatch, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="k", ASSAYER_LLM__MODEL="m").llm
    assert llm is not None
    assert (llm.base_url, llm.api_key.get_secret_value()) == ("http://127.0.0.1:9/v1", "k")


def test_openai_key_is_not_sent_to_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = _with(monkeypatch, ASSAYER_LLM__BASE_URL="http://gpu-box/v1", OPENAI_API_KEY="k", ASSAYER_LLM__MODEL="m").llm
    assert llm is not None
    assert llm.api_key.get_secret_value() == ""


def test_environment_variable_overrides_file_and_file_overrides_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "assayer.toml").write_text('[llm]\nmodel = "of the file"\nseed = 7\n')
    monkeypatch.setenv("ASSAYER_LLM__MODEL", "of the variable")
    llm = load_settings("simulate").llm
    assert llm is not None
    assert (llm.model, llm.seed, llm.base_url) == ("of the variable", 7, "http://127.0.0.1:8399/v1")


@pytest.mark.parametrize("written", ["10.1.0.0/16, ::1/128", '["10.1.0.0/16", "::1/128"]'])
def test_list_may_be_written_with_commas_or_as_json(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    assert _with(monkeypatch, ASSAYER_FETCHING__ALLOW=written).fetching.allow == ("10.1.0.0/16", "::1/128")


def test_sources_are_disabled_until_base_url_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {source.base_url for source in load_settings().sources.values()} == {None}
    settings = _with(monkeypatch, ASSAYER_ARXIV__BASE_URL="http://127.0.0.1:9/arxiv/")
    assert settings.sources["arxiv"].base_url == "http://127.0.0.1:9/arxiv"


def test_online_profile_enables_every_source_over_https() -> None:
    addresses = {name: source.base_url or "" for name, source in load_settings("online").sources.items()}
    assert [name for name, address in addresses.items() if not address.startswith("https://")] == []


def test_default_spacing_depends_on_api_key_and_can_be_overridden(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings("online").s2.spacing_seconds == 3.0
    monkeypatch.setenv("ASSAYER_S2__API_KEY", "k")
    assert load_settings("online").s2.spacing_seconds == 1.0
    monkeypatch.setenv("ASSAYER_S2__SPACING_SECONDS", "0.5")
    assert load_settings("online").s2.spacing_seconds == 0.5


@pytest.mark.parametrize("variable", ["ASSAYER_LLM__BASE_URL", "ASSAYER_LLM__FAST_MODEL"])
def test_llm_without_model_is_refused(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    assert "set ASSAYER_LLM__MODEL" in _refusal(monkeypatch, **{variable: "http://127.0.0.1:9/v1"})


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("ASSAYER_HOM", "ASSAYER_HOME"),
        ("ASSAYER_LLM__MODLE", "ASSAYER_LLM__MODEL"),
        ("ASSAYER_LLM__CONCURRENCY__MX", "ASSAYER_LLM__CONCURRENCY__MAX"),
    ],
)
def test_misspelt_variable_is_rejected_with_suggestion(
    monkeypatch: pytest.MonkeyPatch, misspelt: str, meant: str
) -> None:
    assert _refusal(monkeypatch, **{misspelt: "1"}) == f"There is no setting {misspelt}. Did you mean {meant}?"


@pytest.mark.parametrize("written", ['[llm]\nmodle = "m"\n', '[llm]\nmodel = "m"\nmodle = "m"\n'])
def test_misspelt_setting_in_the_file_is_refused(tmp_path: Path, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "assayer.toml").write_text(written)
    with pytest.raises(ConfigurationError, match=r"MODLE|set ASSAYER_LLM__MODEL"):
        load_settings()


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("ASSAYER_LLM__PRICES", "two dollars", "ASSAYER_LLM__PRICES must be written as JSON."),
        ("ASSAYER_EVALUATION__CONCURRENCY", "many", "ASSAYER_EVALUATION__CONCURRENCY: Input should be a valid integer"),
        ("ASSAYER_GROBID__URLS", "grobid", "ASSAYER_GROBID__URLS__0: 'grobid' does not begin with http:// or https://"),
        ("ASSAYER_S2__BASE_URL", "s2", "ASSAYER_S2__BASE_URL: must begin with http:// or https://"),
        ("ASSAYER_CONFIG", "/nowhere.toml", "ASSAYER_CONFIG names /nowhere.toml, which is not a file."),
    ],
)
def test_invalid_value_is_rejected_with_variable_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    assert said in _refusal(monkeypatch, **{variable: value})


def test_invalid_secret_value_is_not_repeated_in_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sesame" not in _refusal(monkeypatch, ASSAYER_LLM__PRICES="open sesame")
