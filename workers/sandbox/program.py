"""Program that runs every sandboxed parser: `python -m workers.sandbox.program MEMORY CPU MODULE:FUNCTION OPTIONS`.

The function is imported after the limits are set. It is called with the document from standard input and with the
options (a JSON object) as keyword arguments. Its result is written to standard output as JSON; a refusal is written as
`{"refused": {"cause", "message", "hint"}}`, a crash as `{"crashed": traceback}`."""

import json
import sys
import traceback
from importlib import import_module

from workers.sandbox.isolation import isolate
from workers.sandbox.limits import confine
from workers.sandbox.refusal import Refused

_CAUSES: dict[type[Exception], str] = {
    MemoryError: "memory",
    RecursionError: "nested",
    ModuleNotFoundError: "not_installed",
}
_MAX_FRAMES, _MAX_TRACEBACK_CHARS = 4, 2_000


def _build_output(parser: str, options: str) -> object:
    from assayer.errors import Unreadable

    try:
        return _run_parser(parser, json.loads(options))
    except Refused as refused:
        return _build_refusal(refused.cause, refused.message, refused.hint)
    except Unreadable as error:
        return _build_refusal(error.cause, error.message, error.hint)
    except tuple(_CAUSES) as error:
        return _build_refusal(next(cause for kind, cause in _CAUSES.items() if isinstance(error, kind)))
    except Exception:  # noqa: BLE001 - the parent logs the defect, and refuses the document
        return {"crashed": traceback.format_exc(limit=-_MAX_FRAMES)[-_MAX_TRACEBACK_CHARS:]}


def _run_parser(parser: str, options: dict[str, object]) -> object:
    """Call the parser, and return its result as plain data: the fields of a model or a named tuple."""
    module, _, function = parser.partition(":")
    answer = getattr(import_module(module), function)(sys.stdin.buffer.read(), **options)
    if hasattr(answer, "model_dump"):
        return answer.model_dump(mode="json")
    return answer._asdict() if hasattr(answer, "_asdict") else answer


def _build_refusal(cause: str, message: str = "", hint: str = "") -> object:
    return {"refused": {"cause": cause, "message": message, "hint": hint}}


def main() -> None:
    confine(*map(int, sys.argv[1:3]))
    isolate()
    sys.stdout.buffer.write(json.dumps(_build_output(*sys.argv[3:])).encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
