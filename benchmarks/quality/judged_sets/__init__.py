"""Every set that people judged, in one shape, and all that is measured on it beside the program."""
