"""Arrays in, arrays out: the statistics every stage shares. Knows no tables and no labels."""
