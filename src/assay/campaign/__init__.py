"""A project that collects answers in a browser. Needs the extra ``campaign``."""
