"""Documents as they came in: their bytes, and where a quote stands in them."""
