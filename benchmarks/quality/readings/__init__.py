"""In which order found papers are worth reading, by what readers said of them: without a language model."""
