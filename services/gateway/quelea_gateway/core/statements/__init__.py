"""Statements as data: years and lines, and companies side by side."""
