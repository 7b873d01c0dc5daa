"""The web route and the refresh."""
