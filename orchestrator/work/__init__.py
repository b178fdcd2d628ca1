"""From the queue to the verdict: who gets a job, who does it, and how neither's death loses it."""
