"""Sending of mails over SMTP."""
