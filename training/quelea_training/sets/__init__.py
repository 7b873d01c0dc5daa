"""Models that belong together as one set: kept, compared, taken up and rolled back."""
