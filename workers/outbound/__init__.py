"""Requests to other people's HTTP services: cached, claimed by one process, limited, retried, recorded.

LLM requests and requests to literature sources share the parts in this package. `sources` carries requests to sources
from end to end; `workers.llm.gateway` does so for LLM requests.
"""
