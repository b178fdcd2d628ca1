"""Reviewers as characters: who they are, what they look for, and how much of the evidence they would know."""

from assayer.methods.innoeval.personas.pool import Pool, load, shipped
from assayer.methods.innoeval.personas.schema import Persona
from assayer.methods.innoeval.personas.statistics import PoolStatistics, Spread, statistics

__all__ = ["Persona", "Pool", "PoolStatistics", "Spread", "load", "shipped", "statistics"]
