"""Documents on their way in: submission, the worker that reads and indexes them, recovery."""
