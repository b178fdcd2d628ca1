"""Who acts, and what each may do: sign-in, sessions, roles, members, and the log of their acts."""
