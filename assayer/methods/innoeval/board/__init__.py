"""Review board: selection of reviewers, one request per reviewer, meta-review, advice and decision."""
