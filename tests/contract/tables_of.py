"""Tables as an earlier version of the program left them."""

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

__all__ = ["tables_of"]


async def tables_of(revision: str, url: str, *, back: bool = False) -> None:
    """Makes those of a revision in an empty database; `back` from a later one."""

    def migrate(connection: Connection) -> None:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", "orchestrator.store:migrations")
        (command.downgrade if back else command.upgrade)(config, revision)

    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url), poolclass=NullPool
    )
    async with engine.begin() as connection:
        await connection.run_sync(migrate)
    await engine.dispose()
