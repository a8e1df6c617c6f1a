"""LOAD: the tables a user has, checked when read, immutable afterwards."""
