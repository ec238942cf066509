"""What pages say is not served is not served: the day that it is, they must change."""

from __future__ import annotations

import pytest

from kafkadouble.server.apis.served import TABLE
from tests.docs.pages import DOCS, ROOT

SERVED = {served.name for served in TABLE}
MISSING = {
    "SASL": ("SaslHandshake", "SaslAuthenticate"),
}
PAGES = (ROOT / "README.md", DOCS / "comparison.md", DOCS / "troubleshooting.md")


@pytest.mark.parametrize("what", MISSING)
def test_it_is_not_served_and_pages_say_so(what: str) -> None:
    assert not SERVED & set(MISSING[what]), f"{what} is served: say so in {[page.name for page in PAGES]}"
    assert [page.name for page in PAGES if what.lower() not in page.read_text().lower()] == []
