"""Addresses, search results and web pages."""
