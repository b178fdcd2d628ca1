"""From the queue to the verdict: workers lease jobs and run them, and no worker's death loses one."""
