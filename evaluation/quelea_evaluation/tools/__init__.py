"""Finding the right one of a thousand documented functions."""
