"""What an idea is scored on: five built-in dimensions, and those that users register in the same form."""

from assayer.methods.innoeval.dimensions.registry import BUILT_IN, chosen, load
from assayer.methods.innoeval.dimensions.schema import Band, Dimension, Scale

__all__ = ["BUILT_IN", "Band", "Dimension", "Scale", "chosen", "load"]
