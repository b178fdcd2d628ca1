"""Classification of database errors: whether to retry, and a message that does not reveal the password."""

from urllib.parse import parse_qs, urlsplit

import asyncpg

from assayer.errors import AssayerError, ConfigurationError, InputError, StorageError

DRIVER_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a statement sent while the server is ending the connection
)
"""All errors that a statement or a connection attempt can raise."""

RETRYABLE_ERRORS: tuple[type[Exception], ...] = (
    OSError,  # refused, reset, no such socket; TimeoutError is one of them
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
)
"""Errors after which the same work can succeed on another connection; all work here can be repeated."""

_KINDS: tuple[tuple[tuple[type[Exception], ...], str, str], ...] = (
    (
        (asyncpg.InvalidAuthorizationSpecificationError,),
        "does not let this user in",
        "Check user and password in ASSAYER_DATABASE__URL.",
    ),
    (
        (asyncpg.InvalidCatalogNameError,),
        "has no database of that name",
        "Create it (createdb NAME), or correct the name in ASSAYER_DATABASE__URL.",
    ),
    (
        (asyncpg.InsufficientPrivilegeError,),
        "forbids this to the user",
        "Give it CREATE and USAGE on the schema public, or its rights with `assayer admin migrate --serving-role`.",
    ),
    (
        (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError),
        "lacks tables of assayer",
        "They are made at the start of every command; does ASSAYER_DATABASE__URL name the right database?",
    ),
    ((asyncpg.DiskFullError,), "has no disk space left", "Make room on the database's disk and start again."),
    (
        (asyncpg.TooManyConnectionsError,),
        "has no free connection",
        "Lower ASSAYER_DATABASE__MAX_CONNECTIONS, or raise max_connections of the server.",
    ),
    (
        (asyncpg.ReadOnlySQLTransactionError,),
        "is read-only",
        "Is it a standby? Point ASSAYER_DATABASE__URL at the primary.",
    ),
    (
        (TimeoutError,),
        "did not answer in time",
        "Is it overloaded or behind a firewall? Check ASSAYER_DATABASE__URL.",
    ),
    (
        RETRYABLE_ERRORS,
        "is out of reach",
        "Does PostgreSQL run there? ASSAYER_DATABASE__URL says where assayer looks for it.",
    ),
)


def safe_address(url: str) -> str:
    """Return the address in a URL, without user and password; a vague description if the URL cannot be parsed
    safely."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the database"
    if "@" in parts.path + parts.query + parts.fragment:  # a password with a stray / ? or #
        return "the database"
    host = parts.netloc.rpartition("@")[2] or parse_qs(parts.query).get("host", [""])[0]
    return f"PostgreSQL at {host}{parts.path}" if host else "the database"


def translate_error(error: Exception, address: str) -> AssayerError:
    """Return the typed error for an asyncpg error; `address` is the result of `safe_address`."""
    subject = address[0].upper() + address[1:]
    if isinstance(error, ValueError) and not isinstance(error, asyncpg.DataError):
        # Its text may quote the URL, so it is not repeated here.
        return ConfigurationError(
            "The address of the database cannot be understood.",
            "ASSAYER_DATABASE__URL looks like postgresql://user:password@host:5432/name; "
            "special characters in the password must be percent-encoded.",
        )
    if isinstance(error, asyncpg.CharacterNotInRepertoireError):
        # PostgreSQL cannot store NUL. Stored texts have it replaced, but search values arrive as they were sent.
        return InputError("A value contains a NUL character (code 0), which no stored text contains.", "Remove it.")
    detail = " ".join(str(error).split()) or type(error).__name__
    for kinds, meaning, hint in _KINDS:
        if isinstance(error, kinds):
            return StorageError(f"{subject} {meaning}: {detail}.", hint)
    return StorageError(f"{subject} refused a statement: {detail}.")
