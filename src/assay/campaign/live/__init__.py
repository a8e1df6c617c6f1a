"""Results while a campaign runs: on its complete beginning, with verdicts at planned looks."""
