"""`quelea up`: every service as a process of its own, started, watched, restarted and stopped together."""
