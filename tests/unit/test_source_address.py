"""Addresses of source requests, their cache keys, and secrecy of keys and addresses."""

import pytest
from pydantic import SecretStr
from yarl import URL

from assayer.errors import SourceRefused
from workers.outbound.source_requests import SourceRequest
from workers.outbound.source_retries import SourceAddress
from workers.outbound.source_settings import ArxivSettings, OpenAlexSettings, SemanticScholarSettings, SourceSettings

KEY = SecretStr("s3cret key/1")


def make_address(settings: SourceSettings, base: str = "https://api.example.org/v1") -> SourceAddress:
    return SourceAddress("example", settings, base)


def call(path: str = "works", **fields: object) -> SourceRequest:
    return SourceRequest("example", "search", path, **fields)  # type: ignore[arg-type]


def test_api_key_is_sent_in_header_or_query_as_source_requires() -> None:
    scholar = make_address(SemanticScholarSettings(api_key=KEY))
    alex = make_address(OpenAlexSettings(api_key=KEY, email="me@example.org"))

    assert scholar.build_headers()["x-api-key"] == KEY.get_secret_value()
    assert "s3cret" not in str(scholar.build_url(call()))
    assert dict(alex.build_url(call(params=(("q", "ore"),))).query) == {
        "q": "ore",
        "api_key": KEY.get_secret_value(),
        "mailto": "me@example.org",
    }
    assert not any("s3cret" in value for value in alex.build_headers().values())


def test_no_key_is_sent_when_none_is_configured() -> None:
    assert "x-api-key" not in make_address(SemanticScholarSettings()).build_headers()
    assert "api_key" not in make_address(OpenAlexSettings()).build_url(call()).query


def test_cache_key_and_pace_key_do_not_contain_api_key() -> None:
    source_address = make_address(OpenAlexSettings(api_key=KEY))

    assert "s3cret" not in source_address.rate_limit_key
    assert source_address.build_cache_key(call()) == make_address(OpenAlexSettings()).build_cache_key(call())


def test_pace_key_differs_by_key_and_by_host() -> None:
    names = {
        make_address(SemanticScholarSettings(api_key=key), base).rate_limit_key
        for key in (KEY, SecretStr(""))
        for base in ("https://a.example.org", "https://b.example.org")
    }
    assert len(names) == 4


def test_cache_key_is_identical_only_for_equivalent_requests() -> None:
    source_address = make_address(OpenAlexSettings())
    request = call(params=(("a", "1"), ("b", "2")))

    assert source_address.build_cache_key(request) == source_address.build_cache_key(
        call(params=(("b", "2"), ("a", "1")))
    )
    other_requests = [call(params=(("a", "1"),)), call("other"), call(body="{}"), call(params=(("a", "1"), ("b", "3")))]
    assert len({source_address.build_cache_key(item) for item in (request, *other_requests)}) == 5
    assert source_address.build_cache_key(request) != make_address(
        OpenAlexSettings(), "https://elsewhere.example.org"
    ).build_cache_key(request)


@pytest.mark.parametrize("path", ["../admin", "works/../../admin", "%2e%2e/admin", "./../x"])
def test_url_path_leaving_the_base_path_is_rejected(path: str) -> None:
    with pytest.raises(SourceRefused):
        make_address(OpenAlexSettings(api_key=KEY)).build_url(call(path))


def test_url_preserves_percent_encoding() -> None:
    url = make_address(SourceSettings()).build_url(call("works/10.1%2Fa%20b%3F", params=(("q", "a&b c"),)))

    assert url.raw_path == "/v1/works/10.1%2Fa%20b%3F"
    assert url.query == {"q": "a&b c"}


def test_redirect_to_https_on_same_host_is_followed() -> None:
    source_address = make_address(ArxivSettings(), "http://api.example.org")

    assert (
        str(source_address.resolve_redirect(source_address.build_url(call("q")), "https://api.example.org/q"))
        == "https://api.example.org/q"
    )


def test_redirect_on_the_same_host_keeps_the_key() -> None:
    source_address = make_address(OpenAlexSettings(api_key=KEY))

    target = source_address.resolve_redirect(source_address.build_url(call("W1")), "/v1/W2")

    assert target.path == "/v1/W2"
    assert target.query == {"api_key": KEY.get_secret_value()}


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.example.net/v1",
        "//evil.example.net",
        "http://api.example.org/v1",
        "https://api.example.org:8443/v1",
        "file:///etc/passwd",
        "file://api.example.org/etc/passwd",
        "https://[",
    ],
)
def test_redirect_elsewhere_is_refused(location: str) -> None:
    with pytest.raises(SourceRefused):
        make_address(OpenAlexSettings(api_key=KEY)).resolve_redirect(URL("https://api.example.org/v1/works"), location)
