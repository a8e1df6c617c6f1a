"""A copy of a campaign to try, where nothing that is sent counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.records import NotNowError
from assay.campaign.store.opening import FILE


@contextmanager
def campaign_copy(campaign: Campaign) -> Iterator[tuple[Campaign, str]]:
    """An open copy with one rater more, and the token of that one's link."""
    if campaign.folder is None:
        raise NotNowError("only a campaign in a file can be copied; preview another one")
    with TemporaryDirectory(prefix="assay-preview-") as folder:
        campaign.backup(Path(folder) / FILE)
        with open_campaign(folder) as copy:
            copy.open("preview")
            (rater,) = copy.add_raters(1, "preview")
            yield copy, rater["token"]
