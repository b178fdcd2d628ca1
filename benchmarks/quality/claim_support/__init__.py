"""Benchmark of the support check: telling claims that their quotes support from others, on four public sets."""
