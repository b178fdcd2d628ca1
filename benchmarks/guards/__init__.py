"""Guards before a debate: fitted on generated wordings, measured on wordings they never saw."""
