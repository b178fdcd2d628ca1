"""Benchmark of the support check on four public sets: does it recognise claims that their quotes support?"""
