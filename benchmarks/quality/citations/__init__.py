"""What authors cited, found again from title and abstract: searches in one step against walks along citations."""
