"""SQL scripts `vNNNN_what.sql`, one for each revision of the tables, run by `orchestrator.store.migrator`."""
