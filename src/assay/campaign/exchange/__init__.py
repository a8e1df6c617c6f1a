"""What a campaign gathered, as the tables that the rest of Assay reads."""
