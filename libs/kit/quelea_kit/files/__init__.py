"""Folders, object stores, disks, archives, backups."""
