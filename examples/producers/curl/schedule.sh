#!/bin/sh
# Has a text published to a topic after a delay, or withdraws it, by the HTTP API of duestream serve.
# The text goes as it is: the body is the payload, the headers say the rest.
set -eu

url=${DUESTREAM_URL:-http://127.0.0.1:8700}
case $# in
  1)
    curl --silent --show-error --fail-with-body --request DELETE "$url/v1/messages/$1" \
      --header "Authorization: Bearer $DUESTREAM_TOKEN"
    ;;
  4)
    curl --silent --show-error --fail-with-body --request PUT "$url/v1/messages/$1" \
      --header "Authorization: Bearer $DUESTREAM_TOKEN" \
      --header "Content-Type: text/plain" \
      --header "ce-specversion: 1.0" \
      --header "ce-id: $(date +%s)-$$" \
      --header "ce-source: /examples/curl" \
      --header "ce-type: io.duestream.schedule.v1" \
      --header "ce-outputtopic: $2" \
      --header "ce-delayby: $3" \
      --data-binary "$4"
    ;;
  *)
    echo "schedule.sh KEY [TOPIC DELAY TEXT]; without the rest: withdraw" >&2
    exit 2
    ;;
esac
