"""One script per claim of speed; ``python -m benchmarks`` runs them all."""
