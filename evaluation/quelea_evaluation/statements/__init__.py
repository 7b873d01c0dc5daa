"""Figures of financial statements."""
