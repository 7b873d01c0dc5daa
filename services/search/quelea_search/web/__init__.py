"""The web: its search, and its pages as documents."""
