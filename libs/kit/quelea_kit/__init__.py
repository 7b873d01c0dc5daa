"""What every service shares, once. The kit knows no service."""
