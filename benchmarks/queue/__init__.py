"""The job queue on a real PostgreSQL: shares of tenants, operations a second, figures over many jobs."""
