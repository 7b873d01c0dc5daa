"""Reads company and period out of a question, and chooses the filings to search."""
