"""Handing mails to a mail server over SMTP."""
