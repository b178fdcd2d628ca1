"""Sending of mail to a mail server over SMTP."""
