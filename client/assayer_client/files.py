"""Write long responses to files atomically."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import IO

from assayer_client.errors import InvalidRequest


@contextmanager
def open_atomic_file(target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `target` when the context ends. Until then, and after an error, an existing
    file is unchanged. If `target` is a symbolic link, the link is replaced, not the file to which it points. Devices
    and pipes, even behind a link, are written to directly, but only at the end. Raises InvalidRequest if the file
    cannot be written."""
    with _translate_errors(target):
        is_special_file = target.exists() and not target.is_file() and not target.is_dir()
        if target.is_dir():
            raise InvalidRequest(f"{target} cannot be written: it is a folder.", "Pass the name of a file.")
        folder = Path(gettempdir()) if is_special_file else target.parent
        partial = folder / f".{target.name[:100]}.{token_hex(6)}"
        try:
            with open(partial, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if is_special_file:
                with partial.open("rb") as source, target.open("wb") as stream:
                    shutil.copyfileobj(source, stream)
            else:
                with suppress(FileNotFoundError):
                    if stat.S_ISREG((target_status := target.lstat()).st_mode):
                        partial.chmod(stat.S_IMODE(target_status.st_mode))
                partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def _translate_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidRequest(f"{target} cannot be written: {error.strerror or error}.") from None
