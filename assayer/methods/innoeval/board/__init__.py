"""Review board: selection of reviewers, a review per reviewer and dimension, meta-review, advice and decision."""
