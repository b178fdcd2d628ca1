"""Review board: selection of reviewers, one review per reviewer and dimension, meta-review, advice and decision."""
