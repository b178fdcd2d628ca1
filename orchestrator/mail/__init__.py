"""Mails to members about finished calls, assigned reviews and invitations.

They contain names of calls and counts, and nothing from proposals, because mail is not confidential.
"""
