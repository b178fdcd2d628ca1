"""From the queue to the verdict: the dispatcher leases jobs, workers run them, and neither's death loses one."""
