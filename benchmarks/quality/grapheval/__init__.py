"""Benchmark of the reliability of GraphEval's verdicts on real decisions."""
