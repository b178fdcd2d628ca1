"""How far the verdicts of GraphEval can be trusted, on real decisions."""
