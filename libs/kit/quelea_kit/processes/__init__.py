"""Processes of this machine: their memory, identity, pools, and a Redis of its own."""
