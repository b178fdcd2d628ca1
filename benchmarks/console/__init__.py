"""How long the console's table of a large call takes."""
