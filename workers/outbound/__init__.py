"""HTTP requests to other services: cached, claimed by one process, rate limited, retried, recorded.

`http`, `single_flight`, `claims`, `priority_gate` and `store` serve both LLM requests and requests to literature
sources. `source_gateway` handles requests to sources from end to end; `workers.llm.gateway` does the same for LLM
requests."""
