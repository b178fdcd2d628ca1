"""A deployment that does nothing: what Serve takes by itself."""

__all__ = ["Nothing"]


class Nothing:
    async def __call__(self) -> str:
        return ""
