"""Parses one untrusted web page: `python -m workers.sandbox.page_parser MEMORY CPU CHARACTERS CHARSET URL TODAY`.

HTML on standard input, one JSON object on standard output. The charset is the server's word. The answer is
`{"error": kind}` or `{"title", "site", "published", "text", "hidden": [[why, text]]}`. The libraries that parse are
imported after the limits are set.
"""

import datetime as dt
import json
import sys

from workers.sandbox.limits import confine

_MOST_HIDDEN = 200
_HIDDEN_LENGTH = 1_000


def _read(most_characters: int, charset: str, url: str, today: str) -> dict[str, object]:
    from workers.sandbox.page_extraction import PageWithoutText, extract_article

    try:
        found = extract_article(sys.stdin.buffer.read(), charset, url, dt.date.fromisoformat(today))
    except PageWithoutText:
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
