"""The catalogue of what code in the sandbox may call, read from the packages themselves."""
