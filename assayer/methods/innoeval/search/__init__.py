"""Search from the idea's parts to the sources read: queries in rounds, selection, and slow reading of the best."""
