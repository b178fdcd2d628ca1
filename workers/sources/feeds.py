"""XML from outside: parsed without DTDs, entities, network and beyond no limit of libxml2's."""

from lxml import etree

from workers.sources.fields import line
from workers.sources.malformed import malformed

__all__ = ["MOST_BYTES", "parse_feed"]

MOST_BYTES = 16 * 2**20
_EXCUSE = 200
_HINT = "Check that its base URL is the API's; if it is, the API has changed."


def parse_feed(body: bytes, source: str) -> etree._Element:
    """The root element. Raises SourceMalformed; a document with a DTD is refused before anything in it counts."""
    if len(body) > MOST_BYTES:
        raise malformed(source, f"The answer of {source} has {len(body):,} bytes.", f"At most {MOST_BYTES:,} are read.")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        # The parser's words quote the document.
        raise malformed(source, f"The answer of {source} is not XML: {line(str(error))[:_EXCUSE]}.", _HINT) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise malformed(source, f"The answer of {source} declares a document type, which no feed does.", _HINT)
    return root
