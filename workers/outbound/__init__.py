"""Requests to other services over HTTP: cached, claimed by one process, limited, retried, recorded.

`http`, `single_flight`, `claims`, `priority_gate` and `store` serve LLM requests and requests to literature sources
alike. `source_gateway` carries requests to sources from end to end; `workers.llm.gateway` does so for LLM requests.
"""
