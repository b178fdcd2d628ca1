"""Where a call goes, and what is added to it on the way: keys and e-mail addresses, which nobody else sees."""

import hashlib
import json
from collections.abc import Mapping
from urllib.parse import quote, quote_plus

from yarl import URL

from assayer import __version__
from assayer.errors import SourceRefused
from workers.remote.call import Call
from workers.remote.settings import SourceSettings

__all__ = ["Address"]


class Address:
    """Of one source that is on."""

    def __init__(self, source: str, settings: SourceSettings, base_url: str) -> None:
        self._source = source
        self._settings = settings
        self._base = URL(base_url)
        self._secret = settings.api_key.get_secret_value()
        self.host = self._base.authority.rpartition("@")[2]

    @property
    def bucket(self) -> str:
        """Names the limits that hold here: those of this API at this host for this key."""
        return f"{self._source} {self.host} {hashlib.sha256(self._secret.encode()).hexdigest()[:16]}"

    def cache_key(self, call: Call) -> str:
        """Names the answer: the same for everybody who asks the same of the same server."""
        asked = [call.source, str(self._base), call.path, sorted(call.params), call.body]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    def url(self, call: Call) -> URL:
        """Raises SourceRefused for a path that leads out of the source's base URL."""
        base = str(self._base).rstrip("/") + "/"
        url = URL(base + call.path)
        if not str(url).startswith(base):
            raise SourceRefused(f"The path {call.path!r} leads out of {self._source}'s address.")
        return url.extend_query(list(call.params) + self._params())

    def redirected(self, url: URL, location: str) -> URL:
        """Raises SourceRefused for another host; the only change that is followed is the one to encryption."""
        try:
            target = url.join(URL(location))
        except ValueError:
            target = URL()
        encrypted = (url.scheme, target.scheme, target.port) == ("http", "https", 443)
        if target.host != url.host or not (encrypted or target.origin() == url.origin()):
            raise SourceRefused(
                f"{self._source} redirects from {self.host} to {target.authority or 'nowhere'}; that is not followed.",
                f"Check {self._settings.variable}__BASE_URL.",
            )
        added = {name: value for name, value in self._params() if name not in target.query}
        return target.update_query(added) if added else target

    def headers(self) -> Mapping[str, str]:
        place = self._settings.key_place
        headers = {"User-Agent": f"assayer/{__version__}", "Accept": "*/*", **dict(self._settings.headers)}
        if self._secret and place.kind == "header":
            headers[place.name] = place.prefix + self._secret
        if self._settings.connections == 1:
            headers["Connection"] = "close"  # an idle connection of ours would be a second one to another process
        return headers

    def discreet(self, text: str) -> str:
        """Without key and e-mail address: some servers and libraries repeat what they were sent."""
        for secret in (self._secret, self._settings.email):
            if secret:
                for form in {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}:
                    text = text.replace(form, "…")
        return text

    def _params(self) -> list[tuple[str, str]]:
        place, email = self._settings.key_place, self._settings.email
        params = []
        if self._secret and place.kind == "param":
            params.append((place.name, self._secret))
        if email and self._settings.email_param:
            params.append((self._settings.email_param, email))
        return params
