"""Authentication and access control: sign-in, sessions, roles, members and the audit log."""
