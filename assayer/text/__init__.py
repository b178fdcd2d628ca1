"""Reading text from outside: decoded, made safe to show, split into sections and sentences."""
