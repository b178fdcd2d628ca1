"""The tables of version 0.1.0 (`v0001_baseline.sql`)."""

from importlib import resources
from typing import Any

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    script = resources.files("orchestrator.store.migrations.versions").joinpath("v0001_baseline.sql").read_text()
    # Past SQLAlchemy, whose prepared statements hold one command each.
    connection: Any = op.get_bind().connection.dbapi_connection
    connection.run_async(lambda driver: driver.execute(script))
