"""Which tasks there are, in which order, and who gets which; no SQL here."""
