"""Jobs of the service, independent of the database: records, states, retries and the fair scheduler."""
