"""The LLM gateway, its settings, its store's port, and the substitute for when there is no LLM."""

from workers.llm.answers import Answers, MemoryAnswers
from workers.llm.fallbacks import Fallbacks
from workers.llm.gateway import Gateway
from workers.llm.settings import ConcurrencySettings, LlmSettings, Price

__all__ = [
    "Answers",
    "ConcurrencySettings",
    "Fallbacks",
    "Gateway",
    "LlmSettings",
    "MemoryAnswers",
    "Price",
]
