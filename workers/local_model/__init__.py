"""Run a language model on this machine with llama.cpp's server."""
