"""Requests made at random from the OpenAPI description get documented replies only."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance
from tests.campaign.served import make, serving

from assay.campaign.web.access import Limit

EXAMPLES = 12


@pytest.mark.slow
@pytest.mark.parametrize("who", ["rater-1", "owner", "viewer", "join"])
def test_every_reply_is_documented(tmp_path: Path, who: str) -> None:
    with serving(*make(tmp_path, "esa")) as served:
        served.app.state.visits.requests = Limit(rate=1e6, burst=10**6)
        schema = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
        headers = {"Authorization": f"Bearer {served.tokens[who]}"}
        operations = [result.ok() for result in schema.get_all_operations()]
        # A random "close" would end the campaign for the rest.
        for operation in sorted(operations, key=lambda one: one.path == "/c/{slug}/{act}"):

            @settings(
                max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
                phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
            )  # fmt: skip
            def attempt(case: schemathesis.Case) -> None:
                reply = case.call(headers=headers, allow_redirects=False)
                checks = [not_a_server_error, status_code_conformance, response_schema_conformance]
                case.validate_response(reply, checks=checks)

            given(case=operation.as_strategy())(attempt)()
        assert served.campaign.status().answers == 0
