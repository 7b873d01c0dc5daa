"""Pages of the web: addresses checked and pinned, robots.txt honoured, everything bounded in time and size."""
