"""Names that the masking rules leave in an idea, read by a language model and masked where they stand in the text."""
