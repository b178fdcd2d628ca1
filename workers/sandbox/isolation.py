"""Keep a sandboxed process away from files, the network and other processes, using Landlock (Linux 5.13 or newer).

Without this, a parser that a hostile document has taken over would have the service's privileges: it could read its
parent's environment, including all keys, and other users' documents, and send them elsewhere."""

import ctypes
import mimetypes
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_ALL_FILE_RIGHTS = (1 << 13) - 1
"""Every access right in the first version: reading, writing, executing, creating and removing."""
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_ALL_NETWORK_RIGHTS, _ALL_SCOPES = 3, 3
"""TCP's bind and connect, since version 4; abstract sockets and signals, since version 6. UDP cannot be restricted."""
_MIN_NETWORK_VERSION, _MIN_SCOPES_VERSION = 4, 6
_PROGRAM_FOLDER = Path(__file__).parents[2]
"""Folder of this program's packages, which an editable install does not add to `sys.path`."""
_SYSTEM_PATHS = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def isolate() -> int:
    """Allow this process, until it ends, only to read the program and the system's libraries, without TCP or signals to
    other processes. Return Landlock's version; 0 if the kernel has none, in which case only the other limits apply."""
    system = ctypes.CDLL(None, use_errno=True)
    version = max(0, system.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)) if sys.platform == "linux" else 0
    if not version:
        return 0
    rules = _Ruleset(
        _ALL_FILE_RIGHTS,
        _ALL_NETWORK_RIGHTS if version >= _MIN_NETWORK_VERSION else 0,
        _ALL_SCOPES if version >= _MIN_SCOPES_VERSION else 0,
    )
    size = 8 * (1 + (version >= _MIN_NETWORK_VERSION) + (version >= _MIN_SCOPES_VERSION))
    ruleset = _check_result(system.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0))
    for path in _list_readable_paths():
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        beneath = _PathBeneath(_READ_FILE | (_READ_FOLDER if path.is_dir() else 0), folder)
        _check_result(system.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(beneath), 0))
        os.close(folder)
    _check_result(system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _check_result(system.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)
    return version


def _list_readable_paths() -> Iterator[Path]:
    python = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *sys.path}
    # openpyxl reads the lists of media types.
    for path in map(Path, {*python, _PROGRAM_FOLDER, *_SYSTEM_PATHS, *mimetypes.knownfiles}):
        if path.is_absolute() and path.exists():
            yield path


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
