"""The manifests in k8s/, checked as far as they can be without a cluster."""
