"""Whether the words quoted for a claim bear it out: verbatim is not support."""
