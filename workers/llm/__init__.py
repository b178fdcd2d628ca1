"""Language models: the gateway that evaluations ask, and the client of an endpoint.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.llm.settings import ConcurrencySettings, LlmBatchSettings, LlmSettings, Price

__all__ = ["ConcurrencySettings", "LlmBatchSettings", "LlmSettings", "Price"]
