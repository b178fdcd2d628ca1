"""Splitting of ideas into viewpoints by a language model or by the splitter, checked against the idea."""
