"""`python -m workers.confinement.launch MEMORY CPU FILE_BYTES program …`: another program under the same limits."""

import os
import sys

from workers.confinement.limits import confine

if __name__ == "__main__":
    confine(*map(int, sys.argv[1:4]))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    os.execvpe(sys.argv[4], sys.argv[4:], environment)  # noqa: S606 - no shell is wanted
