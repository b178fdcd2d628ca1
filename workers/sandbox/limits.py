"""Set the resource limits of a sandboxed process before it reads its input.

`python -m workers.sandbox.limits MEMORY CPU FILE_BYTES program …` runs another program, such as git, under the same
limits."""

import os
import resource
import sys


def confine(memory_bytes: int, cpu_seconds: int, file_bytes: int = 0) -> None:
    """Limit address space, CPU time and the size of any written file, and disable core dumps."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    confine(*map(int, sys.argv[1:4]))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    os.execvpe(sys.argv[4], sys.argv[4:], environment)  # noqa: S606 - deliberately without a shell


if __name__ == "__main__":
    main()
