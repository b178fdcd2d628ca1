"""From what others publish to paper records in Parquet: streaming, resumable, out of core.

Stage one turns each source file into raw Parquet (`raw_files`); stage two joins the raw files by partitions
(`record_join`); `pipeline` decides what is missing and what has changed. A new source needs a format (`source_formats`)
and a way to fetch its files (`source_files`).
"""
