"""koehn2012: simulating human judgment in machine translation evaluation campaigns."""
