"""Execution of jobs, from the queue to the verdict: workers lease jobs and run them, and no job is lost if a worker
dies."""
