"""Tests of the reviews themselves: coverage of experts' points and sensitivity to planted flaws."""
