"""Set the resource limits of a sandboxed process before it reads its input."""

import resource


def confine(memory_bytes: int, cpu_seconds: int) -> None:
    """Limit address space and CPU time, and disable the writing of files and core dumps."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
