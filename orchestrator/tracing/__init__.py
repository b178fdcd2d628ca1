"""Traces of jobs that have ended, told to an OpenTelemetry collector: made afterwards, of what is kept anyway."""
