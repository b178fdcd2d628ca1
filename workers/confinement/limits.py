"""The confined process binds itself before it looks at what it was given."""

import resource

__all__ = ["confine"]


def confine(memory_bytes: int, cpu_seconds: int, file_bytes: int = 0) -> None:
    """Caps address space, computing time and the size of any file written; forbids core dumps."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
