"""The campaigns behind one server: a token leads to its campaign, a slug to its pages."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.keys import FILE, HUB_FILE, HubKeys, read_hub_keys, read_keys, write_keys
from assay.campaign.store.opening import only_writer, refuse_remote
from assay.campaign.store.people import token_hash
from assay.campaign.store.unit import Link

OF_SERVER = Link(0, "owner")
"""The link of the owner of the server, who owns every campaign."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a token opens; all campaigns if none is named."""

    link: Link
    campaign: Campaign | None


class Hub:
    """The campaigns that one server serves, each with its own writer and lock."""

    def __init__(self, folder: Path | None = None, keys: HubKeys | None = None) -> None:
        self.folder = folder
        """Where new campaigns are made; None for a server of one campaign."""
        self.keys = keys
        self.campaigns: dict[str, Campaign] = {}
        self.folders: dict[str, Path] = {}
        self.making = Lock()
        """Held while a table is read or a campaign is made: one at a time bounds memory."""
        self.refreshed: float | None = None
        """When results were last refreshed, by the monotonic clock; None if they are not."""
        self.previews: dict[str, ExitStack] = {}
        """Copies of campaigns that their owners are trying."""
        self._known: dict[str, Access] = {}
        """What links of campaigns open, by the hash of their token."""

    def add(self, campaign: Campaign, folder: Path | None = None) -> Campaign:
        """Serve one more campaign; a second one with the same slug gets a number."""
        slugs = (
            campaign.slug,
            *(f"{campaign.slug}-{k}" for k in range(2, len(self.campaigns) + 3)),
        )
        campaign.slug = next(slug for slug in slugs if slug not in self.campaigns)
        self.campaigns[campaign.slug] = campaign
        if folder is not None:
            self.folders[campaign.slug] = folder
        return campaign

    def find(self, token: str) -> Access | None:
        """Look up what a token opens, if anything, and whether its link still holds."""
        if self.keys is not None and hmac.compare_digest(token.encode(), self.keys.owner.encode()):
            return Access(OF_SERVER, None)
        known = self.remembered(token)
        own = None if known is None else known.campaign
        for campaign in list(self.campaigns.values()) if own is None else [own]:
            link = campaign.link(token)
            if link is not None:
                access = self._known[token_hash(token)] = Access(link, campaign)
                return access
        return None

    def remembered(self, token: str) -> Access | None:
        """What a token opened when it was last looked up: its link may have ended since."""
        return self._known.get(token_hash(token))

    def ready(self) -> bool:
        """Whether every store answers."""
        return all(campaign.ready() for campaign in list(self.campaigns.values()))

    def disconnect(self) -> None:
        """Disconnect every campaign."""
        self.end_previews()
        for campaign in self.campaigns.values():
            campaign.disconnect()

    def end_previews(self) -> None:
        """Discard all previews."""
        while self.previews:
            self.previews.popitem()[1].close()


def hub_of(served: Campaign | Hub) -> Hub:
    """Return the hub itself, or a hub of one campaign."""
    if isinstance(served, Hub):
        return served
    hub = Hub()
    hub.add(served)
    return hub


def is_hub(folder: Path) -> bool:
    """Whether a folder holds campaigns or is empty, and is not itself a campaign or project."""
    if not folder.is_dir() or (folder / FILE).is_file() or (folder / "assay.toml").is_file():
        return False
    visible = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return (folder / HUB_FILE).is_file() or not visible or bool(_campaign_folders(folder))


def _campaign_folders(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"*/{FILE}") if path.parent.name[0] != ".")


@contextmanager
def open_hub(folder: Path, address: str, public: str | None = None) -> Iterator[Hub]:
    """Open all campaigns of a folder and record in their keys where they are served.

    The first time, the folder gets a link for the owner of the server.
    """
    refuse_remote(folder)
    with ExitStack() as held:
        held.enter_context(only_writer(folder))
        keys = HubKeys(secrets.token_hex(16))
        if (folder / HUB_FILE).is_file():
            keys = read_hub_keys(folder)
        keys = replace(keys, public=public or address, served=address)
        write_keys(folder, keys)
        held.callback(lambda: write_keys(folder, replace(keys, served=None)))
        hub = Hub(folder, keys)
        held.callback(_let_go, hub)
        for place in _campaign_folders(folder):
            take_in(hub, place)
        yield hub


def take_in(hub: Hub, folder: Path) -> Campaign:
    """Open the campaign of a folder and record in its keys where it is served."""
    keys = read_keys(folder)
    campaign = hub.add(open_campaign(keys.store or folder), folder)
    if hub.keys is not None:
        write_keys(folder, replace(keys, served=hub.keys.served, public=hub.keys.public))
    return campaign


def _let_go(hub: Hub) -> None:
    hub.disconnect()
    for folder in hub.folders.values():
        write_keys(folder, replace(read_keys(folder), served=None))
