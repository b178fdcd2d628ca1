"""Paper records in JSON Lines and Parquet: read, checked and cleaned, or rejected with a reason."""
