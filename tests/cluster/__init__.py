"""The service on a real Ray, which no other test starts."""

import os
import warnings

# Read when Ray is imported: clusters of these tests ask for a token, which `enter_private_environment` makes.
os.environ["RAY_AUTH_MODE"] = "token"
with warnings.catch_warnings():
    # Ray declares settings in a way that pydantic is about to drop; every other warning stays an error.
    warnings.filterwarnings("ignore", message="Using extra keyword arguments on `Field`")
    import ray.serve  # noqa: F401
