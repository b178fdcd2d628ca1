"""Emails to members about finished calls, assigned reviews and invitations.

They contain only names of calls and counts, and nothing from proposals, because email is not confidential.
"""
