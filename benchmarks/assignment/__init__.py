"""Assignment of reviewers by expertise: its quality on authors' own papers, and its speed."""
