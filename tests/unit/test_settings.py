"""Sources of settings, and messages about invalid ones."""

import json
import os
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from assayer.errors import ConfigurationError
from cluster.cli.main import app
from cluster.operator_settings import list_setting_paths
from cluster.settings import Profile, Settings
from cluster.settings_loading import load_settings
from docs.site_tables import meaning


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Clear all settings and work in an empty directory."""
    for name in list(os.environ):
        if name.startswith(("ASSAYER_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def load_with(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load_settings()


def get_refusal(monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_with(monkeypatch, **variables)
    return str(caught.value)


@pytest.mark.parametrize("profile", get_args(Profile))
def test_every_profile_is_valid(profile: Profile) -> None:
    loaded_settings = load_settings(profile)
    assert (loaded_settings.llm is None) == (profile != "simulate")


def test_model_without_base_url_uses_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = load_with(monkeypatch, ASSAYER_LLM__MODEL="m", OPENAI_API_KEY="k").llm
    assert llm is not None
    assert (llm.base_url, llm.api_key.get_secret_value()) == ("https://api.openai.com/v1", "k")


def test_api_key_without_model_configures_no_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_with(monkeypatch, OPENAI_API_KEY="k").llm is None
    assert load_with(monkeypatch, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="k").llm is None


def test_openai_base_url_and_key_apply_when_model_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = load_with(
        monkeypatch, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="k", ASSAYER_LLM__MODEL="m"
    ).llm
    assert llm is not None
    assert (llm.base_url, llm.api_key.get_secret_value()) == ("http://127.0.0.1:9/v1", "k")


def test_openai_key_is_not_sent_to_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = load_with(
        monkeypatch, ASSAYER_LLM__BASE_URL="http://gpu-box/v1", OPENAI_API_KEY="k", ASSAYER_LLM__MODEL="m"
    ).llm
    assert llm is not None
    assert llm.api_key.get_secret_value() == ""


def test_environment_variable_overrides_file_and_file_overrides_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "assayer.toml").write_text('[llm]\nmodel = "of the file"\nmax_answer_tokens = 7\n')
    monkeypatch.setenv("ASSAYER_LLM__MODEL", "of the variable")
    llm = load_settings("simulate").llm
    assert llm is not None
    assert (llm.model, llm.max_answer_tokens, llm.base_url) == ("of the variable", 7, "http://127.0.0.1:8399/v1")


@pytest.mark.parametrize("list_text", ["10.1.0.0/16, ::1/128", '["10.1.0.0/16", "::1/128"]'])
def test_list_may_be_written_with_commas_or_as_json(monkeypatch: pytest.MonkeyPatch, list_text: str) -> None:
    assert load_with(monkeypatch, ASSAYER_FETCHING__ALLOW=list_text).fetching.allow == ("10.1.0.0/16", "::1/128")


def test_sources_are_disabled_until_base_url_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {source.base_url for source in load_settings().sources.values()} == {None}
    settings = load_with(monkeypatch, ASSAYER_ARXIV__BASE_URL="http://127.0.0.1:9/arxiv/")
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
    assert "set ASSAYER_LLM__MODEL" in get_refusal(monkeypatch, **{variable: "http://127.0.0.1:9/v1"})


@pytest.mark.parametrize(
    ("misspelt", "suggestion"),
    [
        ("ASSAYER_HOM", "ASSAYER_HOME"),
        ("ASSAYER_LLM__MODLE", "ASSAYER_LLM__MODEL"),
        ("ASSAYER_LLM__CONCURRENCY__MX", "ASSAYER_LLM__CONCURRENCY__MAX"),
    ],
)
def test_misspelt_variable_is_rejected_with_suggestion(
    monkeypatch: pytest.MonkeyPatch, misspelt: str, suggestion: str
) -> None:
    assert get_refusal(monkeypatch, **{misspelt: "1"}) == f"Unknown setting {misspelt}. Did you mean {suggestion}?"


@pytest.mark.parametrize("file_text", ['[llm]\nmodle = "m"\n', '[llm]\nmodel = "m"\nmodle = "m"\n'])
def test_misspelt_setting_in_the_file_is_refused(
    tmp_path: Path, file_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "assayer.toml").write_text(file_text)
    with pytest.raises(ConfigurationError, match=r"line [23]: unknown setting llm.modle. Did you mean llm.model\?"):
        load_settings()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ASSAYER_LLM__PRICES", "two dollars", "ASSAYER_LLM__PRICES must be written as JSON."),
        ("ASSAYER_EVALUATION__CONCURRENCY", "many", "ASSAYER_EVALUATION__CONCURRENCY: Input should be a valid integer"),
        ("ASSAYER_GROBID__URLS", "grobid", "ASSAYER_GROBID__URLS__0: 'grobid' does not begin with http:// or https://"),
        ("ASSAYER_S2__BASE_URL", "s2", "ASSAYER_S2__BASE_URL: must begin with http:// or https://"),
        ("ASSAYER_CONFIG", "/nowhere.toml", "ASSAYER_CONFIG names /nowhere.toml, which is not a file."),
    ],
)
def test_invalid_value_is_rejected_with_variable_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    assert message in get_refusal(monkeypatch, **{variable: value})


def test_invalid_secret_value_is_not_repeated_in_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sesame" not in get_refusal(monkeypatch, ASSAYER_LLM__PRICES="open sesame")


def test_settings_are_few_and_each_is_documented() -> None:
    paths = list(list_setting_paths())
    # One more than 150, because the speed of a GPU is no price and was hidden in `llm.prices`.
    assert len(paths) == len(set(paths)) <= 151
    assert [path for path in paths if not meaning(path)] == []


def test_misspelt_setting_in_the_file_is_reported_with_line_and_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "assayer.toml").write_text("# ours\n[evaluation]\nmax_usd = 2\nconcurency = 3\n")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert str(caught.value) == (
        "assayer.toml, line 4: unknown setting evaluation.concurency. Did you mean evaluation.concurrency?"
    )


def test_invalid_value_in_the_file_is_reported_with_line(tmp_path: Path) -> None:
    (tmp_path / "assayer.toml").write_text('home = "/data"\n\n[innoeval.board]\nmodels = 3\n')
    with pytest.raises(ConfigurationError, match=r"^assayer.toml, line 4: innoeval.board.models: "):
        load_settings()


@pytest.mark.parametrize("file_text", ["[scholareval]\nhits = 3\n", "scholareval = {hits = 3}\n"])
def test_constant_is_refused_in_the_file(tmp_path: Path, file_text: str) -> None:
    (tmp_path / "assayer.toml").write_text(file_text)
    with pytest.raises(ConfigurationError, match=r"line [12]: unknown setting scholareval.hits"):
        load_settings()


def test_constant_is_refused_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Unknown setting ASSAYER_SCHOLAREVAL__HITS." in get_refusal(monkeypatch, ASSAYER_SCHOLAREVAL__HITS="3")


def test_mapping_in_the_file_may_have_any_keys(tmp_path: Path) -> None:
    (tmp_path / "assayer.toml").write_text(
        '[llm]\nmodel = "m"\nbase_url = "http://x/v1"\n[llm.prices]\nm = [1, 2]\n[llm.gpu_speeds]\nm = [3000, 300]\n'
    )
    llm = load_settings().llm
    assert llm is not None
    assert (llm.prices, llm.gpu_speeds) == ({"m": (1, 2)}, {"m": (3_000, 300)})


def test_config_show_names_the_origin_of_each_value_and_masks_secrets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "assayer.toml").write_text('[queue]\nmax_losses = 9\n[corpus]\nsource = "s3://me:sesame@host/corpus"\n')
    monkeypatch.setenv("ASSAYER_DATABASE__URL", "postgresql://me:sesame@host/x")
    result = CliRunner().invoke(app, ["config", "show", "--origin", "--json", "--profile", "online"])
    value_and_origin_by_name = {row["name"]: (row["value"], row["origin"]) for row in json.loads(result.stdout)}
    assert len(value_and_origin_by_name) == len(list(list_setting_paths()))
    assert value_and_origin_by_name["ASSAYER_QUEUE__MAX_LOSSES"] == (9, "assayer.toml, line 2")
    assert value_and_origin_by_name["ASSAYER_DATABASE__URL"] == ("••••", "environment, ASSAYER_DATABASE__URL")
    assert value_and_origin_by_name["ASSAYER_S2__BASE_URL"] == ("https://api.semanticscholar.org", "profile online")
    assert value_and_origin_by_name["ASSAYER_QUEUE__MAX_FAILURES"] == (3, "default")
    assert "sesame" not in result.stdout
