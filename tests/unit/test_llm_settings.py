"""Settings of the gateway: what they refuse, and that the key stays hidden."""

import pytest
from pydantic import SecretStr, ValidationError

from workers.llm import LlmSettings, Price


def test_tiers_map_to_models_without_duplicates() -> None:
    settings = LlmSettings(base_url="http://host/v1/", model="big")
    assert (settings.get_model_for("fast"), settings.get_model_for("strong"), settings.models) == (
        "big",
        "big",
        ("big",),
    )
    assert settings.base_url == "http://host/v1"
    two = LlmSettings(base_url="http://host/v1", model="big", fast_model="small")
    assert (two.get_model_for("fast"), two.get_model_for("strong"), two.models) == ("small", "big", ("big", "small"))


def test_judge_model_may_be_set_separately() -> None:
    assert LlmSettings(base_url="http://host/v1", model="big", fast_model="small").get_model_for("judge") == "big"
    three = LlmSettings(base_url="http://host/v1", model="big", fast_model="small", judge_model="fair")
    assert (three.get_model_for("judge"), three.models) == ("fair", ("big", "small", "fair"))


def test_key_is_hidden_in_every_printed_form() -> None:
    settings = LlmSettings(base_url="http://host", model="m", api_key=SecretStr("sk-very-secret"))
    assert "secret" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_prices_are_read_from_pairs_and_tables() -> None:
    prices = LlmSettings.model_validate(
        {"base_url": "http://h", "model": "m", "prices": {"a": [2, 8], "b": {"input": 1, "output": 4}}}
    ).prices
    assert prices == {"a": Price(2, 8), "b": Price(1, 4)}
    assert prices["a"].compute_cost(1_000_000, 500_000) == 6.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "host:8000"},
        {"model": ""},
        {"structured": "xml"},
        {"max_attempts": 0},
        {"request_timeout_seconds": 0},
        {"prices": {"m": [-1, 2]}},
        {"prices": {"m": [1, 2, 3_000, 300]}},
        {"gpu_speeds": {"m": [3_000]}},
        {"gpu_speeds": {"m": [3_000, 0]}},
        {"concurrency": {"max": 0}},
        {"unknown": 1},
    ],
)
def test_wrong_setting_is_refused_by_name(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        LlmSettings.model_validate({"base_url": "http://h", "model": "m"} | wrong)


@pytest.mark.parametrize(
    ("url", "other_url", "is_same"),
    [
        ("http://host/v1", "http://HOST:80/v1/", True),
        ("https://host/v1", "https://host:443/v1", True),
        ("http://user:secret@host/v1?key=a#b", "http://host/v1", True),
        ("http://host/v1", "https://host/v1", False),
        ("http://host/v1", "http://host:8000/v1", False),
        ("http://host/v1", "http://other/v1", False),
        ("http://host/v1", "http://host/v2", False),
    ],
)
def test_equivalent_urls_are_the_same_endpoint(url: str, other_url: str, is_same: bool) -> None:
    first, second = (LlmSettings(base_url=url, model="m").endpoint for url in (url, other_url))
    assert (first == second) == is_same
    assert "secret" not in first


def test_named_endpoint_keeps_its_name_when_it_moves() -> None:
    urls = ("http://old/v1", "http://new:8000/v1")
    assert {LlmSettings(base_url=url, model="m", endpoint_name="ours").endpoint for url in urls} == {"ours"}
