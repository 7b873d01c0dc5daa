"""The quelea command."""
