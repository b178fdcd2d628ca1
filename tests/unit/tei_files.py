"""TEI documents of GROBID."""

from pathlib import Path

import pytest

REAL_TEI = Path(__file__).parents[3] / "shared" / "data" / "grobid" / "paper.tei.xml"
needs_real_tei = pytest.mark.skipif(not REAL_TEI.exists(), reason="the data folder beside the clone is missing")


def make_tei_document(body: str, back: str = "", head: str = "") -> bytes:
    """Return a TEI document with this XML in its body, back matter and header."""
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{head}</teiHeader>'
        f"<text><body>{body}</body><back>{back}</back></text></TEI>"
    ).encode()
