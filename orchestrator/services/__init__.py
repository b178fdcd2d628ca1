"""Functions shared by the API and the console, on explicit repositories and without HTTP."""
