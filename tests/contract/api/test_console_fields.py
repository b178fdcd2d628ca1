"""Corpus coverage of the fields of a call's proposals: drawn, and with the proposals of each field."""

import html
import re

from tests.contract.api.console_forms import open_session
from tests.contract.api.evaluated_calls import call_of_two_fields
from tests.contract.api.service import OTHER, Service


async def test_plot_shows_corpus_coverage_of_fields_and_links_to_proposals(service: Service) -> None:
    batch = await call_of_two_fields(service)
    async with open_session(service, await service.create_key()) as client:
        page = (await client.get(f"/console/calls/{batch}/plots")).text
        fields = re.findall(r'<tr><th scope="row">([a-z, ]+)</th>.*?<a href="([^"]*field=[^"]*)">8</a>', page)
        assert len(fields) == 2, page
        poor = next(html.unescape(link) for name, link in fields if "qubit" in name)
        table = (await client.get(poor)).text
        assert "8 proposals" in table
        assert "Number 8<" in table
        assert "Number 7<" not in table
        assert "0 proposals" in (await client.get(f"{poor}&fit=good")).text
        gone_page = (await client.get(f"/console/calls/{batch}?field=volcanoes")).text
        assert "this one may have disappeared or been renamed" in gone_page
    assert (await service.services.series.get_words(OTHER, batch)).runs == []
