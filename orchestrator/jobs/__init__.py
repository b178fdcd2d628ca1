"""Jobs of the service, without a database: what they are, the states they go through, whose turn it is."""
