#!/bin/sh
# Tests a client that is a few lines of shell. job.sh starts the mock for it and says where it is:
#
#   sh job.sh sh client-test.sh
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/find.xml" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<svc:svc xmlns:svc="$MOCK_SCHEMA_BASE/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="$MOCK_SCHEMA_BASE/2.2/ $MOCK_SCHEMA_BASE/2.2/svc.xsd">
  <svc:samostatny_nalez>
    <svc:ident_cely>:tba</svc:ident_cely>
    <svc:projekt id="C-202400101">C-202400101</svc:projekt>
    <svc:stav>1</svc:stav>
    <svc:geom_system>4326</svc:geom_system>
    <svc:pristupnost xml:lang="cs" id="HES-000866">badatel</svc:pristupnost>
  </svc:samostatny_nalez>
</svc:svc>
XML

# The client: signs in, sends, and tries again as long as the service says that it is too busy.
import_find() {
  token=$(curl -sf "$MOCK_URL/api/token-auth/" -H 'content-type: application/json' \
    -d '{"username": "archaeologist", "password": "archaeologist"}' | sed 's/.*"token": *"\([^"]*\)".*/\1/')
  digest=$(openssl dgst -sha512 -binary "$1" | base64 | tr -d '\n')
  status=429
  while [ "$status" = 429 ]; do
    sleep 0.2
    status=$(curl -s -o "$folder/answer" -w '%{http_code}' "$MOCK_URL/api/pas/import-xml" -H "authorization: Bearer $token" \
      -H "content-digest: sha-512=:$digest:" -F "file=@$1;type=application/xml")
  done
  echo "$status"
}

# The test: a throttled import is sent again, and arrives once.
curl -sf -X PUT "$MOCK_CONTROL/faults" -o /dev/null -d '[{"endpoint": "import", "fault": "throttle", "when": {"nth": 1}}]'
[ "$(import_find "$folder/find.xml")" = 201 ]
[ "$(curl -sf "$MOCK_CONTROL/journal" | grep -o '"path":"/api/pas/import-xml"' | wc -l)" -eq 2 ]
echo 'ok: a throttled import is sent again, and arrives once'
