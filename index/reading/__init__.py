"""What comes in: records of papers in JSON Lines and Parquet, checked and cleaned, or set aside with a reason."""
