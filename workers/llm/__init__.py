"""The LLM gateway, the line it asks, their settings, the store's port, and the substitute for when there is no LLM."""

from workers.llm.answers import Answers, MemoryAnswers
from workers.llm.fallbacks import Fallbacks
from workers.llm.gateway import Gateway
from workers.llm.line import EndpointLine, Line
from workers.llm.settings import ConcurrencySettings, LlmSettings, Price

__all__ = [
    "Answers",
    "ConcurrencySettings",
    "EndpointLine",
    "Fallbacks",
    "Gateway",
    "Line",
    "LlmSettings",
    "MemoryAnswers",
    "Price",
]
