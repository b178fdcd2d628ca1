"""Batched inference: concurrent callers share forward passes of fixed shapes."""
