"""Where this machine notes which files of the corpus it has found whole."""

from cluster.settings import Settings
from index.versions.proofs import Proofs

__all__ = ["proofs_of"]


def proofs_of(settings: Settings) -> Proofs:
    return Proofs(settings.home / "verified")
