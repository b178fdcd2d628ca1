"""What the source gateway takes and keeps: a crowd of evaluations, and limits over several processes."""
