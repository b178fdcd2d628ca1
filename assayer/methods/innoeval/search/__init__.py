"""From the idea's parts to the sources that were read: queries in rounds, selection, slow reading of the best."""
