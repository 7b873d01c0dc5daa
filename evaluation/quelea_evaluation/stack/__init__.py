"""The running product that is measured."""
