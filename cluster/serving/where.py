"""What every process of the service is told when it starts; the rest it reads from its own environment."""

from assayer.models import Frozen
from cluster.serving.settings import ServingSettings
from cluster.settings import Profile, Settings, load_settings

__all__ = ["Where"]


class Where(Frozen):
    """Of no secret: it is stored in the cluster and shown in its dashboard."""

    profile: Profile = "laptop"
    serving: ServingSettings | None = None
    """None: as the settings have it."""

    def settings(self) -> Settings:
        """Raises ConfigurationError."""
        settings = load_settings(self.profile)
        return settings if self.serving is None else settings.model_copy(update={"serving": self.serving})
