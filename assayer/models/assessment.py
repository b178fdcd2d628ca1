"""Conventions for the texts in an assessment."""

import re

LABEL = re.compile(r"\[(P\d+(?:\s*[,;]\s*P\d+)*)\]")
"""Pattern for paper labels in text: `[P3]`, and `[P3, P7]`, which models write without being asked to."""
UNDERSPECIFIED = "underspecified"
"""First word of the reason given for an absent score if the plan says too little to be judged."""
