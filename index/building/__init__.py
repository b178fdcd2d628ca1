"""From records to a version: built anew or updated, what is taken over, and the trial before it is published."""
