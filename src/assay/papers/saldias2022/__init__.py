"""saldias2022: toward more effective human evaluation for machine translation."""
