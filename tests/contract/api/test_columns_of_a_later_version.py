"""Tables of a later version have more columns: processes of this one, which still run, read and write all the same."""

from pydantic import SecretStr

from orchestrator.store import Database, DatabaseSettings, NotificationListener
from tests.contract.api.people import person
from tests.contract.api.service import ACME, OTHER, Service
from tests.contract.api.test_console_looks import places
from tests.contract.api.test_console_tables import signed_in

_TABLES = """
    SELECT relname::text AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = current_schema() AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'assayer_schema'
"""


async def test_every_page_reads_rows_with_columns_of_a_later_version(empty_database_url: str) -> None:
    async with Database(DatabaseSettings(url=SecretStr(empty_database_url))) as database:
        await database.migrate()
        tables = [row["name"] for row in await database.fetch(_TABLES)]
        assert len(tables) > 30
        for table in tables:
            await database.execute(f"ALTER TABLE {table} ADD COLUMN of_a_later_version integer NOT NULL DEFAULT 1")
        async with NotificationListener(database) as listener:
            service = Service.of(database, listener)
            await service.tenant(ACME)
            await service.tenant(OTHER)
            owner, reviewer = await person(service, "owner", "Olga Owner"), await person(service, "reviewer")
            for who, pages in zip((owner, reviewer), await places(service, owner, reviewer), strict=True):
                async with signed_in(service, who.key) as client:
                    for place in pages:
                        answer = await client.get(place.path)
                        assert answer.status_code == 200, (place, answer.text)
