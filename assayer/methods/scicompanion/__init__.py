"""SciCompanion method: compares an idea with a graph of the literature that grows step by step, together with a
notebook.

Only the options are exported here, so that reading the settings does not load the implementation."""

from assayer.methods.scicompanion.options import METHOD, SciCompanionOptions

__all__ = ["METHOD", "SciCompanionOptions"]
