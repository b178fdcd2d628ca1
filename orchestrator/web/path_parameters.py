"""Parameters in request paths."""

from typing import Annotated

from fastapi import Path

PathId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""A resource's id in a request path."""


EntryNumber = Annotated[int, Path(ge=1, le=2**53)]


LlmRequestNumber = Annotated[int, Path(ge=1, le=1_000_000)]
