"""Conventions for the texts of an assessment."""

import re

LABEL = re.compile(r"\[(P\d+(?:\s*[,;]\s*P\d+)*)\]")
"""Pattern for labels in text: `[P3]`, and `[P3, P7]`, which models write unprompted."""
UNDERSPECIFIED = "underspecified"
"""First word of the reason for an absent score if the plan says too little to be judged."""
