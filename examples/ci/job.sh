#!/bin/sh
# Starts the mock of the finds service, waits until it is ready, runs a client's tests against it, and keeps its journal.
#
#   sh job.sh npm test
#
# The tests find the addresses in MOCK_URL (both interfaces), MOCK_SCHEMA_BASE and MOCK_CONTROL.
set -eu

port=${MOCK_PORT:-8099}
# Not by npx, whose end would leave the server running.
PATH=$PWD/node_modules/.bin:$PATH
ready=$(mktemp)
pas-mock-server --port "$port" >"$ready" &
mock=$!
trap 'kill "$mock" 2>/dev/null || true; rm -f "$ready"' EXIT

MOCK_URL=http://127.0.0.1:$port
MOCK_SCHEMA_BASE=$MOCK_URL/schema/svc
MOCK_CONTROL=$MOCK_URL/__mock__
export MOCK_URL MOCK_SCHEMA_BASE MOCK_CONTROL

# Its own line, as a server that was left over on this port would answer as well.
tries=0
until [ -s "$ready" ]; do
  if ! kill -0 "$mock" 2>/dev/null; then
    echo "The mock server did not start: is port $port free? MOCK_PORT names another." >&2
    exit 1
  fi
  tries=$((tries + 1))
  if [ "$tries" -gt 300 ]; then
    echo 'The mock server did not become ready within 30 seconds.' >&2
    exit 1
  fi
  sleep 0.1
done

status=0
"$@" || status=$?
curl -sf "$MOCK_CONTROL/journal" >journal.json
exit "$status"
