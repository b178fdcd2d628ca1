"""Classification of database errors: which to retry, and messages that do not reveal the password."""

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
"""Errors after which the same work may succeed on another connection. All work in this package is safe to repeat."""

_ERROR_DESCRIPTIONS: tuple[tuple[tuple[type[Exception], ...], str, str], ...] = (
    (
        (asyncpg.InvalidAuthorizationSpecificationError,),
        "rejected the user or password",
        "Check the user and password in ASSAYER_DATABASE__URL.",
    ),
    (
        (asyncpg.InvalidCatalogNameError,),
        "has no database with that name",
        "Create it (createdb NAME), or correct the name in ASSAYER_DATABASE__URL.",
    ),
    (
        (asyncpg.InsufficientPrivilegeError,),
        "denied the user permission",
        "As the owner of the tables, grant the role its privileges: `assayer admin migrate --serving-role ROLE`.",
    ),
    (
        (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError),
        "does not contain assayer's tables",
        "Every command creates them when it starts. Check that ASSAYER_DATABASE__URL names the right database.",
    ),
    (
        (asyncpg.DiskFullError,),
        "has no disk space left",
        "Free some space on the database server's disk, then restart.",
    ),
    (
        (asyncpg.TooManyConnectionsError,),
        "has no free connection",
        "Lower ASSAYER_DATABASE__MAX_CONNECTIONS, or raise the server's max_connections.",
    ),
    (
        (asyncpg.ReadOnlySQLTransactionError,),
        "is read-only",
        "It may be a standby. Point ASSAYER_DATABASE__URL at the primary.",
    ),
    (
        (TimeoutError,),
        "did not respond in time",
        "It may be overloaded or behind a firewall. Check ASSAYER_DATABASE__URL.",
    ),
    (
        RETRYABLE_ERRORS,
        "is unreachable",
        "Check that PostgreSQL is running at this address, which ASSAYER_DATABASE__URL sets.",
    ),
)


def strip_credentials(url: str) -> str:
    """Return a URL's address without the user and password, or "the database" if they cannot be removed reliably."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the database"
    if "@" in parts.path + parts.query + parts.fragment:  # the password contains an unescaped / ? or #
        return "the database"
    host = parts.netloc.rpartition("@")[2] or parse_qs(parts.query).get("host", [""])[0]
    return f"PostgreSQL at {host}{parts.path}" if host else "the database"


def translate_error(error: Exception, address: str) -> AssayerError:
    """Return the typed error for an asyncpg error; `address` is the result of `strip_credentials`."""
    subject = address[0].upper() + address[1:]
    if isinstance(error, ValueError) and not isinstance(error, asyncpg.DataError):
        # Its text may quote the URL, so it is not repeated here.
        return ConfigurationError(
            "The database address is not a valid URL.",
            "ASSAYER_DATABASE__URL must have the form postgresql://user:password@host:5432/name; "
            "special characters in the password must be percent-encoded.",
        )
    if isinstance(error, asyncpg.CharacterNotInRepertoireError):
        # PostgreSQL cannot store NUL. It is replaced in stored text, but search values arrive as they were sent.
        return InputError("A value contains a NUL character (code 0), which PostgreSQL cannot store.", "Remove it.")
    detail = " ".join(str(error).split()) or type(error).__name__
    for kinds, meaning, hint in _ERROR_DESCRIPTIONS:
        if isinstance(error, kinds):
            return StorageError(f"{subject} {meaning}: {detail}.", hint)
    return StorageError(f"{subject} rejected a statement: {detail}.")
