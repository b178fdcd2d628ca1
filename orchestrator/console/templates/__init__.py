"""Templates of the console's pages, and their style."""
