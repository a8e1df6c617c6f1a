"""The owner's pages of one campaign: how it stands, who works, what they said, and its report."""
