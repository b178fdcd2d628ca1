"""Models of URL queries, which the client library does not need. All bodies and resources are defined in
`assayer_client`."""

from typing import Annotated

from pydantic import ConfigDict, Field

from assayer_client.resources import Body


class UrlQuery(Body):
    """Query parameters of a URL."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class PageQuery(UrlQuery):
    limit: int = Field(default=50, ge=1, le=500)
    after: str | None = Field(default=None, max_length=200)
    """Value of `next` on the previous page."""


Reference = Annotated[str, Field(min_length=1, max_length=300)]
"""Exact reference that the sender assigned to an idea, returned as `reference` in resources."""


class CancelQuery(UrlQuery):
    erase: bool = False
    """True to also delete the resource, with its report and its events. Requires the scope `manage`."""
