"""POST requests to addresses chosen by users, such as webhooks. Addresses are checked as for downloads, and no response
body is read."""

import asyncio
import ssl
from collections.abc import Mapping

from aiohttp import ClientError

from assayer.errors import AddressRefused, DownloadFailed
from workers.fetching.downloader import network_error_text
from workers.fetching.ssrf_guard import AddressPolicy, GuardedClient, HostResolver, loggable_url


class GuardedPoster(GuardedClient):
    """Poster shared by a whole process, open within its `with` block."""

    def __init__(
        self,
        policy: AddressPolicy,
        user_agent: str,
        resolver: HostResolver | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Create a poster. `tls` replaces the machine's trusted certificates; servers are always verified."""
        super().__init__(policy, resolver, {"User-Agent": user_agent, "Accept-Encoding": "identity"})
        self._tls: ssl.SSLContext | bool = tls or True

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> int:
        """Return the status of the response. Nothing else of it is read, and redirects are not followed.

        Raises DownloadFailed when none comes in time, and AddressRefused, which does not say where a name leads:
        the user who chose the address may not learn that.
        """
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
