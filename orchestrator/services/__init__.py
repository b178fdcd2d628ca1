"""Functions shared by the API and the console. They take the stores that they use as arguments, and know no HTTP except
for the problems that they raise."""
