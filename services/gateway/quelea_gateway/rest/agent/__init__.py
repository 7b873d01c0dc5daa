"""Routes of the analyst: runs, recorded data, the catalogue of functions."""
