"""Ray Serve application for `serve deploy` and KubeRay (`import_path: assayer.serving:build`). Requires the extra
`service`."""

from cluster.serving.application import build

__all__ = ["build"]
