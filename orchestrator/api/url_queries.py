"""Models for URL queries. The client library does not need these; all bodies and resources are defined in
`assayer_client`."""

from typing import Annotated

from pydantic import ConfigDict, Field

from assayer_client.resources import Body


class UrlQuery(Body):
    """Base class for a URL's query parameters."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class PageQuery(UrlQuery):
    limit: int = Field(default=50, ge=1, le=500)
    after: str | None = Field(default=None, max_length=200)
    """`next` from the previous page."""


Reference = Annotated[str, Field(min_length=1, max_length=300)]
"""The exact reference that the sender assigned to an idea; resources return it as `reference`."""


class CancelQuery(UrlQuery):
    erase: bool = False
    """True to also delete the resource with its report and events. Requires the scope `manage`."""
