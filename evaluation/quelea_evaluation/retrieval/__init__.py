"""Finding the right document, page and figure."""
