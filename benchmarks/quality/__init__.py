"""How good the verdicts are, and whether reports keep their promises."""
