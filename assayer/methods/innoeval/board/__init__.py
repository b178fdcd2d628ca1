"""Review board: select reviewers, send one LLM request per reviewer, then write a meta-review, advice and a
decision."""
