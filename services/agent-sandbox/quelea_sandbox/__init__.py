"""Runs Python that nobody trusts, each run in a container of its own."""
