"""Program that runs every sandboxed parser: `python -m workers.sandbox.program MEMORY CPU MODULE:FUNCTION OPTIONS`.

The function is imported after the limits are set, and called with the document from standard input and the options (a
JSON object) as keyword arguments. Its result is written to standard output as JSON; a refusal is written as
`{"refused": {"cause", "message", "hint"}}`."""

import json
import sys
from importlib import import_module

from workers.sandbox.limits import confine
from workers.sandbox.refusal import Refused


def _answer(parser: str, options: str) -> object:
    from assayer.errors import Unreadable

    try:
        return _parsed(parser, json.loads(options))
    except Refused as refused:
        return _refusal(refused.cause, refused.message, refused.hint)
    except Unreadable as error:
        return _refusal(error.cause, error.message, error.hint)
    except MemoryError:
        return _refusal("memory")
    except RecursionError:
        return _refusal("nested")
    except ModuleNotFoundError:
        return _refusal("not_installed")


def _parsed(parser: str, options: dict[str, object]) -> object:
    """Call the parser, and return its result as plain data: the fields of a model or a named tuple."""
    module, _, function = parser.partition(":")
    answer = getattr(import_module(module), function)(sys.stdin.buffer.read(), **options)
    if hasattr(answer, "model_dump"):
        return answer.model_dump(mode="json")
    return answer._asdict() if hasattr(answer, "_asdict") else answer


def _refusal(cause: str, message: str = "", hint: str = "") -> object:
    return {"refused": {"cause": cause, "message": message, "hint": hint}}


def main() -> None:
    confine(*map(int, sys.argv[1:3]))
    sys.stdout.buffer.write(json.dumps(_answer(*sys.argv[3:])).encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
