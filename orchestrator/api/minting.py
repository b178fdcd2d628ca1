"""New API keys, whose secret can be told a second time though nobody stores it.

A secret is an HMAC of a nonce under the key of whoever asks for it. The nonce is stored with the request when that
has an Idempotency-Key, the asker's key never is: its holder can be answered the same again, and a reader of the
database learns nothing. Another key of the tenant that repeats the request is refused.
"""

import hmac

from assayer.models import Frozen
from orchestrator.api.accounts import NewKey
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.tenancy import DrawnKey, KeyPlan, draw_key

__all__ = ["Minting"]


class Minting(Frozen):
    """The answer to a request for a key, as it is stored."""

    tenant: TenantId
    plan: KeyPlan
    nonce: str
    """256 random bits, as hexadecimal digits."""

    def drawn(self, asker: str) -> DrawnKey:
        """The same for the same key of the asker."""
        return draw_key(
            lambda size: hmac.digest(asker.encode(), f"assayer {size} {self.nonce}".encode(), "sha256")[:size]
        )

    def answer(self, asker: str) -> NewKey:
        drawn = self.drawn(asker)
        return NewKey(
            id=drawn.id,
            tenant=self.tenant,
            name=self.plan.name,
            scopes=tuple(sorted(self.plan.scopes)),
            requests_per_minute=self.plan.requests_per_minute,
            expires_at=self.plan.expires_at,
            secret=drawn.secret,
        )
