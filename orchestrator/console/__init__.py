"""Console pages rendered by the service: what people can see and do, depending on their role."""
