"""Tests of the reviews themselves: coverage of experts' points, sensitivity, persuasion, repeatability."""
