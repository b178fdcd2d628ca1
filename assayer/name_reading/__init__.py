"""Use a language model to find names that the masking rules missed in an idea, and mask them."""
