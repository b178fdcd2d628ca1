"""Processing of external text: decoding, sanitising, and splitting into sections and sentences."""
