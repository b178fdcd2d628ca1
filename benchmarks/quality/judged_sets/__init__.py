"""All sets that people judged, in one format, with the program and every other scorer measured on them."""
