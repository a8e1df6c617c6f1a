"""Everything that changes a campaign: one function per transaction."""
