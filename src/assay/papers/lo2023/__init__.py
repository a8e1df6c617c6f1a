"""lo2023: data sampling and (in)stability in machine translation evaluation."""
