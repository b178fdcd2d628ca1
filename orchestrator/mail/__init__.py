"""Mails to members: a call has finished, proposals wait for an opinion, somebody was invited.

Names of calls and counts, nothing of what proposals say: mail is not confidential.
"""
