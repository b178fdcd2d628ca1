"""Two reviews of the same idea side by side: which is better supported, more usable, deeper."""
