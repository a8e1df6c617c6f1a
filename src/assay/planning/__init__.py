"""PLAN: how much is needed, before anything is spent."""
