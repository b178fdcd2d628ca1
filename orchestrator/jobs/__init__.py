"""Jobs of the service, without a database: their records, their states, retries, and the fair scheduler."""
