"""The LLM gateway, the line it asks, their settings, the store's port, and the substitute for when there is no LLM.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.llm.settings import ConcurrencySettings, LlmSettings, Price

__all__ = ["ConcurrencySettings", "LlmSettings", "Price"]
