"""A campaign over HTTP: the pages, and the wire that scripts may speak too."""

from assay.campaign.web.app import create_app
from assay.campaign.web.server import serve

__all__ = ["create_app", "serve"]
