"""Which addresses may be visited: public ones, and the networks that the operator allows.

Lists are those of the IANA special-purpose address registries (RFC 6890 and its successors), written out because
`ipaddress.is_global` differs between patch releases of Python and calls multicast and 64:ff9b::/96 global.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from yarl import URL

from assayer.errors import AddressRefused
from workers.fetching.settings import FetchingSettings, Network

__all__ = ["Address", "Policy", "shown"]

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
            "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        ),
    )
)  # fmt: skip
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
"""Protocol assignments with Teredo, documentation, 6to4: the last can carry any IPv4 address."""
_CARRIERS_OF_4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""IPv4-mapped and NAT64: packets for them arrive at the IPv4 address in their last 32 bits."""

_SCHEMES = ("http", "https")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?")
_NUMERIC_END = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)\.?")
"""A host whose last label is a number means an IPv4 address to some program or other (WHATWG URL, 3.5)."""
_LONGEST = 2_048
_SHOWN = 200


def shown(url: URL | str) -> str:
    """For errors and logs: without user, query and fragment, where keys and signatures stand."""
    try:
        bare = URL(url).with_user(None).with_query(None).with_fragment(None)
    except (ValueError, TypeError):
        return "an address that is no URL"
    text = str(bare)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


class Policy:
    """Judges URLs and addresses; opens nothing, asks nobody. Every refusal is an AddressRefused."""

    def __init__(self, allow: Iterable[Network] = (), ports: Iterable[int] = (80, 443)) -> None:
        self._allow = tuple(allow)
        self._ports = frozenset(ports)

    @classmethod
    def of(cls, settings: FetchingSettings) -> "Policy":
        return cls(settings.networks, settings.ports)

    def url(self, text: str) -> URL:
        """The URL, when its form is right and its host, if written as an address, may be visited."""
        if len(text) > _LONGEST:
            raise AddressRefused(f"{shown(text)} is longer than {_LONGEST:,} characters.")
        try:
            url = URL(text.strip())
        except ValueError as error:
            raise AddressRefused(f"An address is no URL: {error}.") from None
        if url.scheme not in _SCHEMES:
            scheme = f"{url.scheme}:" if url.scheme else "no scheme"
            raise AddressRefused(f"{shown(url)} is not visited: it has {scheme}.", "Only http: and https: are.")
        if url.user is not None or url.password is not None:
            raise AddressRefused(f"{shown(url)} is not visited: it carries a user name or password.")
        host, port = url.raw_host, url.port
        if not host or not port:
            raise AddressRefused(f"{shown(url)} names no host or no port.")
        literal = _literal(host)
        if literal is not None:
            self.address(literal, port, shown(url))
        elif not _NAME.fullmatch(host) or _NUMERIC_END.fullmatch(host):
            raise AddressRefused(f"{shown(url)} names its host in a form that is not visited.")
        return url

    def allows(self, host: str) -> bool:
        """Whether a host, written as an address, lies in a network that was named."""
        literal = _literal(host)
        return literal is not None and any(literal in one for one in self._allow if one.version == literal.version)

    def address(self, address: Address, port: int, where: str) -> None:
        """Raises unless a connection to it may be opened; `where` says what led there."""
        meant = _carried(address)
        if any(
            one.version == network.version and one in network for one in (address, meant) for network in self._allow
        ):
            return
        if not _is_public(meant):
            raise AddressRefused(
                f"{where} leads to {address}, which is not a public address.",
                "If it may be visited, name its network in ASSAYER_FETCHING__ALLOW.",
            )
        if port not in self._ports:
            raise AddressRefused(
                f"{where} leads to port {port}, which is not visited.",
                "If it may be, name it in ASSAYER_FETCHING__PORTS.",
            )


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _carried(address: Address) -> Address:
    if isinstance(address, IPv6Address) and any(address in network for network in _CARRIERS_OF_4):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)
