"""Functions shared by the API and the console. They take the stores that they use as arguments, and do not depend on
HTTP except for the problems that they raise."""
