"""What the door to remote sources takes and keeps: a crowd of askers, and limits over several processes."""
