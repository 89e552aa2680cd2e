"""Uses the mock server from Python, with the standard library alone: signs in, imports a find, reads it back by harvest.

Start a mock first:  npx pas-mock-server --port 8099
Then:                python3 mock_client.py http://127.0.0.1:8099 examples/find-state-1.xml
"""

import base64
import hashlib
import json
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

OAI = "{http://www.openarchives.org/OAI/2.0/}"


def ask(method, url, body=None, **headers):
    request = urllib.request.Request(url, data=body, method=method)
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    with urllib.request.urlopen(request) as answer:
        return answer.headers, answer.read()


def sign_in(base_url, name):
    body = json.dumps({"username": name, "password": name}).encode()
    _, answer = ask("POST", base_url + "/api/token-auth/", body, Content_Type="application/json")
    return json.loads(answer)["token"]


def import_find(base_url, token, document):
    boundary = "pas-" + hashlib.sha256(document).hexdigest()[:16]
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="find.xml"\r\nContent-Type: application/xml\r\n\r\n'
    headers, _ = ask(
        "POST",
        base_url + "/api/pas/import-xml",
        part.encode() + document + f"\r\n--{boundary}--\r\n".encode(),
        Authorization=f"Bearer {token}",
        Content_Type=f"multipart/form-data; boundary={boundary}",
        Content_Digest="sha-512=:" + base64.b64encode(hashlib.sha512(document).digest()).decode() + ":",
    )
    return headers["X-Record-ID"]


def listed(base_url, name, setspec):
    """Identifiers of all records of a set, page by page."""
    basic = "Basic " + base64.b64encode(f"{name}:{name}".encode()).decode()
    query = {"verb": "ListIdentifiers", "metadataPrefix": "oai_svc", "set": setspec}
    while query:
        _, answer = ask("GET", f"{base_url}/2.2/oai?{urllib.parse.urlencode(query)}", Authorization=basic)
        page = ElementTree.fromstring(answer).find(f"{OAI}ListIdentifiers")
        for header in page.iter(f"{OAI}header"):
            yield header.find(f"{OAI}identifier").text.rsplit("/", 1)[-1]
        token = page.find(f"{OAI}resumptionToken")
        query = {"verb": "ListIdentifiers", "resumptionToken": token.text} if token is not None and token.text else None


if __name__ == "__main__":
    base_url, path = sys.argv[1:3]
    with open(path, "rb") as file:
        # The example names its schema by port 8099; another mock has another address.
        document = file.read().replace(b"http://127.0.0.1:8099", base_url.encode())
    ident = import_find(base_url, sign_in(base_url, "archaeologist"), document)
    found = list(listed(base_url, "archaeologist", "samostatny_nalez"))
    print(f"{ident} was created and is {'one of' if ident in found else 'not among'} {len(found)} finds.")
