"""Split ideas into viewpoints, with a language model or the splitter, and check them against the idea."""
