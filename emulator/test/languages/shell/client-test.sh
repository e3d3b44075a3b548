#!/bin/sh
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
auth="Authorization: Bearer $EMULATOR_TOKEN" # for the repository team/app
remote="$(echo "$EMULATOR_GIT_URL" | sed "s#://#://t:$EMULATOR_TOKEN@#")/team/app.git"

fail() {
  echo "not ok: $1" >&2
  exit 1
}

# Returns the emulator to its start and creates the repository.
start() {
  curl -fsS -o "$folder/reset" -X POST "$EMULATOR_ADMIN_URL/reset"
  curl -fsS -o "$folder/created" -X POST -H "$auth" "$EMULATOR_URL/api/repos"
}

# A pushed file is read.
start
git init -q -b main "$folder/work"
echo hello > "$folder/work/a.txt"
git -C "$folder/work" add a.txt
git -C "$folder/work" -c user.name=Ada -c user.email=ada@example.com commit -q -m First
git -C "$folder/work" push -q "$remote" main
[ "$(curl -fsS -H "$auth" "$EMULATOR_URL/api/v1/repos/file?path=a.txt")" = hello ] || fail "the file that was pushed"

# A rate limit is reported.
start
curl -fsS -o "$folder/fault" -X POST -H 'Content-Type: application/json' "$EMULATOR_ADMIN_URL/faults" \
  -d '{"spec": "rate_limited*1;retry-after=7"}'
status() {
  curl -sS -o "$folder/body" -w '%{http_code}' -H "$auth" "$EMULATOR_URL/api/v1/repo"
}
[ "$(status)" = 429 ] || fail "the first request is refused"
[ "$(status)" = 200 ] || fail "the next one is served"
echo ok
