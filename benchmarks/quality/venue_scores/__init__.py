"""Scores on a conference's own scale against what its reviewers gave, and what is simpler than reading."""
