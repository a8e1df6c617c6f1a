"""KITS: homogeneous pieces of text, what editors get, and how much effort they spent."""
