"""Alembic migrations, run by `orchestrator.store.schema`. History is one line: `versions/vNNNN_what.py`."""
