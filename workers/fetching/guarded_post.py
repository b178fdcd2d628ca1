"""Send POST requests to URLs chosen by users, such as webhooks. The URLs are checked as for downloads, and response
bodies are not read."""

import asyncio
from collections.abc import Mapping

from aiohttp import ClientError

from assayer.errors import AddressRefused, DownloadFailed
from workers.fetching.downloader import describe_network_error
from workers.fetching.ssrf_guard import AddressPolicy, GuardedClient, make_loggable


class GuardedPoster(GuardedClient):
    """HTTP POST client shared by a whole process, open within its `with` block."""

    def __init__(self, policy: AddressPolicy, user_agent: str) -> None:
        super().__init__(policy, None, {"User-Agent": user_agent, "Accept-Encoding": "identity"})

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> int:
        """Send the request and return the response's status. The rest of the response is not read, and redirects are
        not followed.

        Raises AddressRefused if the address is not allowed, and DownloadFailed if no response arrives in time. The
        message does not reveal the address to which a name resolves, because the user who chose the name must not find
        it out."""
        logged_url = make_loggable(url)
        try:
            async with asyncio.timeout(seconds):
                address = self._policy.check_url(url)
                response = await self._session.post(address, data=body, headers=headers, allow_redirects=False)
        except TimeoutError:
            raise DownloadFailed(f"{logged_url} did not answer within {seconds:g} s.") from None
        except AddressRefused as error:
            raise AddressRefused(f"Connections to {logged_url} are not allowed.") from error
        except (ClientError, OSError) as error:
            raise DownloadFailed(f"{logged_url} could not be reached: {describe_network_error(error)}.") from error
        response.close()
        return response.status
