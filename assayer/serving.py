"""Application for `serve deploy` and KubeRay: `import_path: assayer.serving:build`. It needs the extra `service`."""

from cluster.serving.application import build

__all__ = ["build"]
