"""The board of reviewers: who sits on it, one review for each reviewer and dimension, meta-review, advice, decision."""
