"""Literature of one evaluation: the papers that may be used, and detection of records of the same paper."""
