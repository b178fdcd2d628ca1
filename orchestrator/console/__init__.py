"""Console pages rendered by the service: what people see and do, by their role."""
