"""Convert published data to paper records in Parquet. The conversion streams, works out of core and can be resumed.

Stage one converts each source file to raw Parquet (`raw_files`). Stage two joins the raw files, partition by partition
(`record_join`). `pipeline` determines which source files are missing and which partitions have changed. A new source
needs a format (`source_formats`) and a way to fetch its files (`source_files`)."""
