"""Connection to a mail server: the end of it."""

import asyncio

import pytest

from workers.mail.settings import MailServerSettings
from workers.mail.smtp import SmtpConnection


class WaitingClient:
    """Client whose server answers QUIT when the test says so. It waits for the answer as aiosmtplib does."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed = False

    async def quit(self) -> None:
        await asyncio.wait_for(self.answer, 60)

    def close(self) -> None:
        self.closed = True


async def test_cancellation_arriving_with_the_last_reply_is_not_lost() -> None:
    connection = SmtpConnection(MailServerSettings(host="mail.example.org", sender="assayer@example.org"))
    client = WaitingClient()
    connection._client = client  # type: ignore[assignment]

    async def leave_connection() -> None:
        async with connection:
            pass

    leaving = asyncio.create_task(leave_connection())
    await asyncio.sleep(0.01)
    client.answer.set_result(None)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert client.closed
