"""Alembic migrations, run by `orchestrator.store.migrator`. History is one line: `versions/vNNNN_what.py`."""
