"""Templates of sign-in."""
