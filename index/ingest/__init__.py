"""Conversion of published data to paper records in Parquet: streaming, resumable, out of core.

Stage one turns each source file into raw Parquet (`raw_files`); stage two joins the raw files partition by partition
(`record_join`); `pipeline` determines what is missing and what has changed. A new source needs a format
(`source_formats`) and a way to fetch its files (`source_files`)."""
