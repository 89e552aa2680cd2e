"""Tests of mock_client.py with the fixtures of conftest.py:  python3 -m pytest"""

import urllib.error

import pytest

from mock_client import import_find, listed, sign_in

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<svc:svc xmlns:svc="{0}/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{0}/2.2/ {0}/2.2/svc.xsd">
  <svc:samostatny_nalez>
    <svc:ident_cely>:tba</svc:ident_cely>
    <svc:projekt id="C-202400101">C-202400101</svc:projekt>
    <svc:stav>1</svc:stav>
    <svc:geom_system>4326</svc:geom_system>
    <svc:pristupnost xml:lang="cs" id="HES-000866">badatel</svc:pristupnost>
  </svc:samostatny_nalez>
</svc:svc>"""


@pytest.fixture
def document(service):
    return DOCUMENT.format(service.schema_base).encode()


def test_what_is_imported_is_harvested(service, document):
    ident = import_find(service.base_url, sign_in(service.base_url, "archaeologist"), document)
    assert ident in listed(service.base_url, "archaeologist", "samostatny_nalez")


found_at_start = set()


@pytest.mark.parametrize("turn", ["first", "second"])
def test_no_test_sees_what_another_one_sent(service, document, turn):
    before = service.control("GET", "/state")["counts"]["finds"]
    found_at_start.add(before)
    import_find(service.base_url, sign_in(service.base_url, "archaeologist"), document)
    assert service.control("GET", "/state")["counts"]["finds"] == before + 1
    assert found_at_start == {before}


def test_a_throttled_import_is_not_taken_for_a_success(service, document):
    service.control("PUT", "/faults", [{"endpoint": "import", "fault": "throttle", "retry_after": 1, "when": {"nth": 1}}])
    with pytest.raises(urllib.error.HTTPError, match="429"):
        import_find(service.base_url, sign_in(service.base_url, "archaeologist"), document)
    assert [entry["status"] for entry in service.control("GET", "/journal")] == [200, 429]
