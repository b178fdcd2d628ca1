"""Execution of jobs, from the queue to the verdict. Workers lease jobs and run them; if a worker dies, its jobs return
to the queue."""
