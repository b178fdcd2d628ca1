"""What a careful reader sees in a plan without opening a paper: a checklist by patterns, flaws by a language model."""
