"""Names to addresses, each of them checked: what the connection is made to is what was checked."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Protocol

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from assayer.errors import AddressRefused
from workers.fetching.addresses import Address, Policy

__all__ = ["Resolver", "SystemResolver", "guarded_connector"]


_LOOKUPS = 16
"""At once."""


class Resolver(Protocol):
    async def resolve(self, host: str) -> tuple[Address, ...]:
        """All addresses of a name, in order of preference. Raises OSError when it has none."""
        ...


class SystemResolver:
    """The machine's own: hosts file, DNS, in whatever order it is configured.

    A name server that answers slowly can hold up other look-ups, but none of the process's other work: they have
    threads of their own.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="resolver")

    async def resolve(self, host: str) -> tuple[Address, ...]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _look_up, host)


def _look_up(host: str) -> tuple[Address, ...]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return tuple(dict.fromkeys(ip_address(place[0]) for *_, place in found))


class _CheckedNames(AbstractResolver):
    """For aiohttp, which connects to the addresses that it gets from here and to no others."""

    def __init__(self, resolver: Resolver, policy: Policy) -> None:
        self._resolver = resolver
        self._policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """One address that may not be visited spoils the name: an honest host has none."""
        addresses = await self._resolver.resolve(host)
        if not addresses:
            raise OSError(f"{host} has no address")
        for address in addresses:
            self._policy.address(address, port, host)
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
        """Nothing is held."""


def guarded_connector(policy: Policy, resolver: Resolver) -> TCPConnector:
    """Asks for a name once a connection, keeps no answer, and checks again at the last door: the socket's."""

    def open_socket(info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
        family, kind, protocol, _, place = info
        try:
            policy.address(ip_address(str(place[0])), int(str(place[1])), "A connection")
        except ValueError:
            raise AddressRefused(f"A connection leads to {place[0]!r}, which is no address.") from None
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        return opened

    return TCPConnector(
        resolver=_CheckedNames(resolver, policy),
        use_dns_cache=False,
        limit=0,
        family=socket.AF_UNSPEC,
        socket_factory=open_socket,
    )
