"""Send email over SMTP."""
