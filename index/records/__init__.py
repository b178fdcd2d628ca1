"""Read paper records from JSON Lines and Parquet. Records are validated and cleaned, or rejected with a reason."""
