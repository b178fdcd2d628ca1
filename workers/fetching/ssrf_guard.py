"""Guard against server-side request forgery: check URLs, and the addresses to which their host names resolve.

Connections are allowed to public addresses and to networks that the operator allows. They are made only to the address
that was checked. The networks listed here are those in the IANA special-purpose address registries (RFC 6890 and its
successors). `ipaddress.is_global` is not used, because it differs between Python's patch releases, and counts multicast
and 64:ff9b::/96 as global."""

import asyncio
import re
import socket
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Protocol, Self

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from assayer.errors import AddressRefused
from workers.fetching.settings import FetchingSettings, Network

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
"""IPv6 networks that are not public: protocol assignments (including Teredo), documentation, and 6to4, which can embed
any IPv4 address."""
_EMBED_IPV4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""IPv4-mapped and NAT64 networks, whose packets reach the IPv4 address in the last 32 bits."""

_SCHEMES = ("http", "https")
_HOST_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?")
_NUMERIC_END = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)\.?")
"""Matches a host whose last label is a number, which some programs interpret as an IPv4 address (WHATWG URL, 3.5)."""
_MAX_URL_CHARS = 2_048
_MAX_LOGGED_CHARS = 200


def make_loggable(url: URL | str) -> str:
    """Return the URL for errors and logs: without user, query and fragment, because these may contain keys and
    signatures."""
    try:
        bare = URL(url).with_query(None).with_fragment(None)
        text = str(bare if bare.host is None else bare.with_user(None))
    except (ValueError, TypeError):
        return "an invalid URL"
    if bare.host is None:  # `https:/me:pw@host/` has only a path
        first_segment, *segments = text.split("/")
        scheme, colon, user_and_host = first_segment.partition(":")
        text = "/".join([scheme + colon + _remove_user(user_and_host), *map(_remove_user, segments)])
    return text if len(text) <= _MAX_LOGGED_CHARS else f"{text[:_MAX_LOGGED_CHARS]}…"


def _remove_user(segment: str) -> str:
    return segment.rpartition("@")[2]


class AddressPolicy:
    """Policy that checks URLs and addresses without accessing the network. Every refusal raises AddressRefused."""

    def __init__(self, allow: Iterable[Network] = (), ports: Iterable[int] = (80, 443)) -> None:
        self._allow = tuple(allow)
        self._ports = frozenset(ports)

    @classmethod
    def from_settings(cls, settings: FetchingSettings) -> "AddressPolicy":
        return cls(settings.networks, settings.ports)

    def check_url(self, text: str) -> URL:
        """Parse and return the URL. Raises AddressRefused if it is malformed, or if its host is an IP address to which
        connections are not allowed."""
        if len(text) > _MAX_URL_CHARS:
            raise AddressRefused(f"{make_loggable(text)} is longer than {_MAX_URL_CHARS:,} characters.")
        try:
            url = URL(text.strip())
        except ValueError as error:
            raise AddressRefused(f"A URL is invalid: {error}.") from None
        if url.scheme not in _SCHEMES:
            scheme = f"the scheme {url.scheme}:" if url.scheme else "no scheme"
            raise AddressRefused(
                f"{make_loggable(url)} cannot be fetched: it has {scheme}.", "Only http: and https: are allowed."
            )
        if url.user is not None or url.password is not None:
            raise AddressRefused(f"{make_loggable(url)} contains a user name or password, which is not allowed.")
        host, port = url.raw_host, url.port
        if not host or not port:
            raise AddressRefused(f"{make_loggable(url)} has no host or no valid port.")
        literal = _parse_literal(host)
        if literal is not None:
            self.check_address(literal, port, make_loggable(url))
        elif not _HOST_NAME.fullmatch(host) or _NUMERIC_END.fullmatch(host):
            raise AddressRefused(f"The host of {make_loggable(url)} is not a valid host name or IP address.")
        return url

    def is_allowed_network(self, host: str) -> bool:
        """Return whether the host is an IP address in a network that the operator allows."""
        literal = _parse_literal(host)
        return literal is not None and any(literal in item for item in self._allow if item.version == literal.version)

    def check_address(self, address: Address, port: int, subject: str) -> None:
        """Raise AddressRefused unless connections to the address are allowed. `url` is the subject of the error
        message, such as the URL."""
        ipv4_target = _extract_embedded_ipv4(address)
        if any(
            item.version == network.version and item in network
            for item in (address, ipv4_target)
            for network in self._allow
        ):
            return
        if not _is_public(ipv4_target):
            raise AddressRefused(
                f"{subject} resolves to {address}, which is not a public address.",
                "To allow it, add its network to ASSAYER_FETCHING__ALLOW.",
            )
        if port not in self._ports:
            raise AddressRefused(
                f"{subject} uses port {port}, which is not allowed.",
                "To allow it, add it to ASSAYER_FETCHING__PORTS.",
            )


def _parse_literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _extract_embedded_ipv4(address: Address) -> Address:
    if isinstance(address, IPv6Address) and any(address in network for network in _EMBED_IPV4):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


_MAX_LOOKUPS = 16
"""Maximum number of concurrent DNS lookups."""


class HostResolver(Protocol):
    async def resolve(self, host: str) -> tuple[Address, ...]:
        """Return all of a host name's addresses, in order of preference. Raises OSError if it has none."""
        ...


class SystemHostResolver:
    """Resolver that uses this machine's configuration, such as its hosts file and DNS.

    Lookups run in threads of their own, so that a slow name server delays only other lookups."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_MAX_LOOKUPS, thread_name_prefix="resolver")

    async def resolve(self, host: str) -> tuple[Address, ...]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _look_up, host)


def _look_up(host: str) -> tuple[Address, ...]:
    address_infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return tuple(dict.fromkeys(ip_address(socket_address[0]) for *_, socket_address in address_infos))


class _CheckedResolver(AbstractResolver):
    """Resolver for aiohttp. Connections are made only to the addresses that it returns."""

    def __init__(self, resolver: HostResolver, policy: AddressPolicy) -> None:
        self._resolver = resolver
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a host name. Raises AddressRefused if any of its addresses is not allowed."""
        addresses = await self._resolver.resolve(host)
        if not addresses:
            raise OSError(f"{host} has no IP address")
        for address in addresses:
            self._policy.check_address(address, port, host)
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET if address.version == 4 else socket.AF_INET6,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Do nothing."""


def make_guarded_connector(policy: AddressPolicy, resolver: HostResolver) -> TCPConnector:
    """Return a connector that resolves names for each connection, without a cache, and checks the address again when it
    opens the socket."""

    def open_socket(info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
        family, kind, protocol, _, socket_address = info
        try:
            policy.check_address(ip_address(str(socket_address[0])), int(str(socket_address[1])), "A host")
        except ValueError:
            raise AddressRefused(f"A host resolves to {socket_address[0]!r}, which is not an IP address.") from None
        new_socket = socket.socket(family, kind, protocol)
        new_socket.setblocking(False)
        return new_socket

    return TCPConnector(
        resolver=_CheckedResolver(resolver, policy),
        use_dns_cache=False,
        limit=0,
        family=socket.AF_UNSPEC,
        socket_factory=open_socket,
    )


class GuardedClient:
    """Base class for clients that connect only to addresses that the policy allows. Open within its `with` block."""

    def __init__(
        self,
        policy: AddressPolicy,
        resolver: HostResolver | None,
        headers: Mapping[str, str],
        *,
        auto_decompress: bool = True,
    ) -> None:
        self._policy = policy
        self._resolver = resolver or SystemHostResolver()
        self._headers = headers
        self._auto_decompress = auto_decompress
        self._open: ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._open = ClientSession(
            connector=make_guarded_connector(self._policy, self._resolver),
            cookie_jar=DummyCookieJar(),
            headers=self._headers,
            # aiohttp's timeouts are off, because callers set a timeout for each phase, and their errors name the phase.
            timeout=ClientTimeout(total=None, sock_connect=None),
            auto_decompress=self._auto_decompress,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        session, self._open = self._open, None
        if session is not None:
            await session.close()

    @property
    def _session(self) -> ClientSession:
        if self._open is None:
            raise RuntimeError(f"The {type(self).__name__} is not open.")
        return self._open
