"""The one door to every remote API: turns inside global limits, shared cache, retries, breaker."""

from workers.remote.call import Ask, Call, Remote, Reply

__all__ = ["Ask", "Call", "Remote", "Reply"]
