"""References of an idea: read, looked up in the literature, and compared with the records found."""
