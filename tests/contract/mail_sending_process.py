"""A process that sends the mails of a database that it shares with others.

    python -m tests.contract.mail_sending_process DATABASE_URL PORT

Says `ready`, waits for a line, and sends until it is killed.
"""

import asyncio
import sys

from pydantic import SecretStr

from cluster.clock import SystemClock
from cluster.mail import build_mail_deliverer, build_mail_outbox
from cluster.settings import MailSettings, Settings
from orchestrator.settings import AccessSettings
from orchestrator.store import Database, DatabaseSettings


def build_mail_settings(port: int, **changes: object) -> Settings:
    """Return settings of a service that sends mail to a server on this machine, with short waits."""
    defaults = {"host": "127.0.0.1", "port": port, "tls": "off", "sender": "assayer@example.org", "tries": 3}
    hasty = {"first_seconds": 0.01, "factor": 1, "poll_seconds": 0.05, "deadline_seconds": 20}
    mail = MailSettings.model_validate(defaults | hasty | changes)
    return Settings(mail=mail, access=AccessSettings(url="https://assayer.example.org"))


async def send(url: str, port: int) -> None:
    settings = build_mail_settings(port)
    async with Database(DatabaseSettings(url=SecretStr(url))) as database:
        deliverer = build_mail_deliverer(settings, build_mail_outbox(settings, database), SystemClock())
        assert deliverer is not None
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await deliverer.run()


if __name__ == "__main__":
    asyncio.run(send(sys.argv[1], int(sys.argv[2])))
