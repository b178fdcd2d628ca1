"""Language models: the gateway that evaluations use, and a client for their endpoint.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.llm.settings import ConcurrencySettings, LlmBatchSettings, LlmSettings, Price

__all__ = ["ConcurrencySettings", "LlmBatchSettings", "LlmSettings", "Price"]
