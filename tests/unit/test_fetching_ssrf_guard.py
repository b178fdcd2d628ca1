"""URLs and addresses that the SSRF guard permits."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import AddressRefused
from tests.unit.processor_time import fill_text, limited_processor_time
from workers.fetching import FetchingSettings
from workers.fetching.ssrf_guard import AddressPolicy, make_loggable

__all__ = ["limited_processor_time"]

STRICT = AddressPolicy.from_settings(FetchingSettings())
LOOPBACK = AddressPolicy.from_settings(FetchingSettings(allow=("127.0.0.0/8", "::1/128")))


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "203.0.113.7", "224.0.0.1",
        "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1",
        "2001:db8::1", "2002:7f00:1::", "2002:808:808::", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1",
        "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    ],
)  # fmt: skip
def test_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(AddressRefused, match="not a public address"):
        STRICT.check_address(ip_address(address), 443, "https://example.org/")


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_public_address_may_be_visited_at_known_ports_only(address: str) -> None:
    STRICT.check_address(ip_address(address), 443, "https://example.org/")
    with pytest.raises(AddressRefused, match="uses port 22,"):
        STRICT.check_address(ip_address(address), 22, "https://example.org:22/")


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_mapped_and_nat64_addresses_are_judged_by_their_ipv4_address(address: IPv4Address) -> None:
    def is_allowed(ipv4_address: IPv4Address | IPv6Address) -> bool:
        try:
            STRICT.check_address(ipv4_address, 443, "here")
        except AddressRefused:
            return False
        return True

    for prefix in ("::ffff:0:0", "64:ff9b::"):
        assert is_allowed(IPv6Address(int(IPv6Address(prefix)) | int(address))) == is_allowed(address)
    if not address.is_global:
        assert not is_allowed(address)


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_non_global_ipv6_address_is_rejected(address: IPv6Address) -> None:
    if address.is_private or address.is_link_local or address.is_loopback or address.is_multicast:
        with pytest.raises(AddressRefused):
            STRICT.check_address(address, 443, "here")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://0x7f000001/", "http://017700000001/",
        "http://2130706433/", "http://127.0.0.1./", "http://１２７.０.０.１/", "http://127。0。0。1/", "http://[::1]/",
        "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[fe80::1%25eth0]/", "http://[::]/",
        "http://169.254.169.254/latest/meta-data", "http://example.org.0x7f/", "http://127.0.0.0x1/",
    ],
)  # fmt: skip
def test_literal_private_address_is_rejected_in_any_spelling(url: str) -> None:
    with pytest.raises(AddressRefused):
        STRICT.check_url(url)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("file:///etc/passwd", "it has the scheme file:"),
        ("gopher://example.org/", "it has the scheme gopher:"),
        ("javascript:alert(1)", "it has the scheme javascript:"),
        ("//example.org/x", "it has no scheme"),
        ("https://user:secret@example.org/", "contains a user name"),
        ("https:///x", "has no host"),
        ("https://example.org:0/", "no host or no valid port"),
        ("https://example.org:99999/", "A URL is invalid"),
        ("https://exa mple.org/", "is not a valid host name or IP address"),
        ("https://example..org/", "is not a valid host name or IP address|A URL is invalid"),
        ("http://h\\@evil.example/", "A URL is invalid"),
        ("https://[::1", "A URL is invalid"),
        ("https://example.org/" + "x" * 3000, "is longer than 2,048"),
        ("", "it has no scheme"),
    ],
)
def test_unusable_url_is_refused_with_the_reason(url: str, message: str) -> None:
    with pytest.raises(AddressRefused, match=message) as refusal:
        STRICT.check_url(url)
    assert "secret" not in str(refusal.value)


@given(st.text(max_size=60))
def test_arbitrary_text_is_a_valid_url_or_rejected(text: str) -> None:
    for candidate in (text, f"http://{text}/", f"https://example.org/{text}"):
        try:
            url = STRICT.check_url(candidate)
        except AddressRefused:
            continue
        assert url.scheme in ("http", "https")
        assert url.raw_host


def test_allowed_network_is_reachable_on_any_port_and_others_are_rejected() -> None:
    LOOPBACK.check_url("http://127.0.0.1:41234/x")
    LOOPBACK.check_url("http://[::1]:41234/x")
    LOOPBACK.check_address(ip_address("::ffff:127.0.0.1"), 9, "here")
    with pytest.raises(AddressRefused):
        LOOPBACK.check_url("http://10.0.0.1/")


def test_allowed_networks_and_ports_are_parsed_from_comma_separated_lists() -> None:
    settings = FetchingSettings.model_validate({"allow": "10.1.0.0/16, ::1/128", "ports": "80,8443"})
    assert [str(network) for network in settings.networks] == ["10.1.0.0/16", "::1/128"]
    assert settings.ports == (80, 8443)
    with pytest.raises(ValueError, match="host bits set"):
        FetchingSettings(allow=("10.1.2.3/16",))


@pytest.mark.parametrize("text", ["file:///etc/passwd", "javascript:alert(1)", "/a/b"])
def test_loggable_url_shows_url_without_host(text: str) -> None:
    assert make_loggable(text) == text


def test_loggable_url_omits_secrets() -> None:
    assert make_loggable("https://me:pw@example.org/a?key=1#x") == "https://example.org/a"
    assert make_loggable("https:/me:pw@example.org/a?key=1") == "https:///example.org/a"
    assert make_loggable("mailto:me@example.org") == "mailto:example.org"
    assert make_loggable("https:me:p@w:1@example.org/a?key=1") == "https:///example.org/a"
    assert make_loggable("https:a:b@c:d@e/f@g:h@i") == "https:///e/i"
    assert make_loggable("/me:pw@example.org/a") == "/example.org/a"
    assert make_loggable("https://[") == "an invalid URL"
    assert len(make_loggable("https://example.org/" + "a" * 900)) < 210


@pytest.mark.parametrize("unit", ["a:", "a:@", "/:", "a@"])
def test_loggable_url_takes_linear_time(unit: str) -> None:
    assert len(make_loggable(fill_text(unit, characters=400_000))) < 210
