"""InnoEval: an idea held against papers, pages and code, and judged by a board of reviewers."""
