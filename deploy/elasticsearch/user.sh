#!/usr/bin/env bash
# Makes the role daybook of role.json, and the user daybook that has it, in the
# Elasticsearch of ELASTIC_URL: as the user elastic with ELASTIC_PASSWORD, the new user
# with INDEX_PASSWORD. Once more changes nothing but the password.
set -euo pipefail
: "${ELASTIC_URL:?}" "${ELASTIC_PASSWORD:?}" "${INDEX_PASSWORD:?}"
role=$(<"$(dirname "${BASH_SOURCE[0]}")/role.json")

# put sends a body to a path; passwords are in no command line.
put() {
  curl --silent --show-error --fail --retry 10 --retry-connrefused --output /dev/null \
    --request PUT --header 'Content-Type: application/json' --data @- \
    --config <(printf 'user = "elastic:%s"\n' "$ELASTIC_PASSWORD") "$ELASTIC_URL$1" <<<"$2"
}

put /_security/role/daybook "$role"
put /_security/user/daybook "{\"password\":\"$INDEX_PASSWORD\",\"roles\":[\"daybook\"]}"
echo "user daybook has the role daybook"
