"""Reads one hostile web page: HTML on standard input, one JSON object on standard output.

Arguments: memory in bytes, CPU seconds, characters, the server's charset, the address, today. The answer is
`{"error": kind}` or `{"title", "site", "published", "text", "hidden": [[why, text]]}`.
"""

import datetime as dt
import json
import sys

from workers.confinement.limits import confine

_MOST_HIDDEN = 200
_HIDDEN_LENGTH = 1_000


def _read(most_characters: int, charset: str, url: str, today: str) -> dict[str, object]:
    from workers.pages.extraction import NoText, extract

    try:
        found = extract(sys.stdin.buffer.read(), charset, url, dt.date.fromisoformat(today))
    except NoText:
        return {"error": "no_text"}
    if len(found.text) > most_characters:
        return {"error": "too_much_text"}
    hidden = [(one.why, one.text[:_HIDDEN_LENGTH]) for one in found.hidden[:_MOST_HIDDEN]]
    return {**found._asdict(), "hidden": hidden}


def main() -> None:
    memory_bytes, cpu_seconds, characters = map(int, sys.argv[1:4])
    confine(memory_bytes, cpu_seconds)
    try:
        answer = _read(characters, *sys.argv[4:])
    except MemoryError:
        answer = {"error": "memory"}
    except RecursionError:
        answer = {"error": "markup"}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
