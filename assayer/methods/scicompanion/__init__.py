"""SciCompanion: an idea held against a graph of the literature that grows step by step beside a notebook.

Only the options are exported here, so that reading the settings loads nothing that does the work.
"""

from assayer.methods.scicompanion.options import METHOD, SciCompanionOptions

__all__ = ["METHOD", "SciCompanionOptions"]
