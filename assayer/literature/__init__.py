"""Literature for one evaluation: which papers may be used, and which records describe the same paper."""
