"""POSTs to addresses that users chose, such as webhooks: guarded like downloads, and no response body is read."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Self

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar

from assayer.errors import AddressRefused, DownloadFailed
from workers.fetching.downloader import network_error_text
from workers.fetching.ssrf_guard import AddressPolicy, HostResolver, SystemHostResolver, guarded_connector, loggable_url

__all__ = ["GuardedPoster"]


class GuardedPoster:
    """One for a process, open from `with` to its end."""

    def __init__(
        self,
        policy: AddressPolicy,
        user_agent: str,
        resolver: HostResolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`tls` brings certificates of its own in place of the machine's; servers are always verified."""
        self._policy = policy
        self._user_agent = user_agent
        self._resolver = resolver or SystemHostResolver()
        self._tls: ssl.SSLContext | bool = tls or True
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = ClientSession(
            connector=guarded_connector(self._policy, self._resolver),
            cookie_jar=DummyCookieJar(),
            headers={"User-Agent": self._user_agent, "Accept-Encoding": "identity"},
            timeout=ClientTimeout(total=None, sock_connect=None),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> int:
        """The status of the answer, of which nothing else is read; redirects are not followed.

        Raises DownloadFailed when none comes in time, and AddressRefused, which does not say where a name leads:
        the user who chose the address may not learn that.
        """
        if self._session is None:
            raise RuntimeError("The poster is not open.")
        where = loggable_url(url)
        try:
            async with asyncio.timeout(seconds):
                address = self._policy.check_url(url)
                response = await self._session.post(
                    address, data=body, headers=headers, allow_redirects=False, ssl=self._tls
                )
        except TimeoutError:
            raise DownloadFailed(f"{where} did not answer within {seconds:g} s.") from None
        except AddressRefused as error:
            raise AddressRefused(f"{where} is no address that may be visited.") from error
        except (ClientError, OSError) as error:
            raise DownloadFailed(f"{where} could not be reached: {network_error_text(error)}.") from error
        response.close()
        return response.status
