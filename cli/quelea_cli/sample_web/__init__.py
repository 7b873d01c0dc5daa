"""A small web on loopback, for demonstrations and tests without the internet: real dated pages and a search."""
