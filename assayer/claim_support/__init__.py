"""Check whether the words quoted for a claim support it; a verbatim quote does not imply support."""
