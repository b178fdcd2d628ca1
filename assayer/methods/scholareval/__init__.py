"""ScholarEval: is the plan sound, and what does it add? Both judged from papers, every claim cited."""

from assayer.methods.scholareval.options import Options
from assayer.methods.scholareval.pipeline import METHOD, Evaluation, evaluate

__all__ = ["METHOD", "Evaluation", "Options", "evaluate"]
