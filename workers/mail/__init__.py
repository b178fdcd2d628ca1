"""Send e-mail over SMTP."""
