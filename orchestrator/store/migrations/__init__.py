"""SQL scripts `vNNNN_what.sql`, one per schema revision, run by `orchestrator.store.migrator`."""
