"""The market-data door: the only way out of a sandbox, with a memory of every call."""
