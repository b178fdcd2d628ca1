"""The one door to every remote API: turns inside global limits, shared cache, retries, breaker."""

from workers.remote.call import Ask, Call, Remote, Reply
from workers.remote.courier import Courier
from workers.remote.replies import MemoryReplies, Replies
from workers.remote.settings import SourceSettings
from workers.remote.turns import MemoryTurns, Turns

__all__ = [
    "Ask",
    "Call",
    "Courier",
    "MemoryReplies",
    "MemoryTurns",
    "Remote",
    "Replies",
    "Reply",
    "SourceSettings",
    "Turns",
]
