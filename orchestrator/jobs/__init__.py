"""Jobs of the service, independent of a database: their records, their states, retries, and the fair scheduler."""
