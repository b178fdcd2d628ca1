"""The references that an idea itself gives: read, looked for in the literature, and compared with the records found."""
