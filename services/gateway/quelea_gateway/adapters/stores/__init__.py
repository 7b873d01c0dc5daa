"""What the gateway keeps itself, in files."""
