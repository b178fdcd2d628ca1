"""Language model on this machine: llama.cpp's server with one model file."""
