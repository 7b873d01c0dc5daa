"""Runs for the gateway's page: published by hand, or asked for over REST and done by a worker."""
