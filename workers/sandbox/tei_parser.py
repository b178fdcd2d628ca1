"""Reads one TEI of an untrusted paper: `python -m workers.sandbox.tei_parser MEMORY CPU`.

TEI on standard input, one JSON object on standard output: the fields of a ParsedPaper, or `{"error", "hint", "cause"}`.
What reads it is imported after the limits are set.
"""

import json
import sys

from workers.sandbox.limits import confine


def _read() -> str:
    from assayer.errors import Unreadable
    from workers.full_texts.grobid_tei import parse_tei

    try:
        return parse_tei(sys.stdin.buffer.read()).model_dump_json()
    except Unreadable as error:
        return json.dumps({"error": error.message, "hint": error.hint, "cause": error.cause})


def main() -> None:
    confine(*map(int, sys.argv[1:]))
    try:
        answer = _read()
    except MemoryError:
        answer = json.dumps({"error": "The TEI needs more memory than it may.", "hint": "", "cause": "memory"})
    sys.stdout.buffer.write(answer.encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
