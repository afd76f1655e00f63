#!/usr/bin/env bash
# The steps of action.yml. Values come as variables, so that no text of a pull request becomes part
# of a command.
#
#   gate.sh install   unpacks the release archive, after a check of its SHA-256
#   gate.sh bench     runs the gate, and writes annotations, the job's summary and the history
set -euo pipefail

fail() {
  # A line end would end the workflow command.
  local text=${1//'%'/'%25'}
  printf '::error title=cctrewrite bench::%s\n' "${text//$'\n'/'%0A'}"
  exit 2
}

install() {
  local archive=$GATE_ARCHIVE
  if [ -z "$archive" ]; then
    command -v cctrewrite >/dev/null || fail 'cctrewrite is not on the PATH; name a release archive by the input archive'
    return
  fi
  [[ $GATE_SHA256 =~ ^[0-9a-fA-F]{64}$ ]] || fail 'the input sha256 must be the SHA-256 of the archive, 64 hexadecimal digits'
  local folder=$RUNNER_TEMP/cctrewrite
  rm -rf "$folder"
  mkdir -p "$folder/unpacked"
  case $archive in
    https://*)
      curl --fail --silent --show-error --location --proto '=https' --retry 3 \
        --output "$folder/archive.tar.gz" -- "$archive" || fail "cannot fetch $archive"
      ;;
    *://*) fail "$archive: only https addresses and paths are allowed" ;;
    *) cp -- "$archive" "$folder/archive.tar.gz" || fail "cannot read $archive" ;;
  esac
  local found
  found=$(sha256sum <"$folder/archive.tar.gz")
  found=${found%% *}
  if [ "$found" != "${GATE_SHA256,,}" ]; then
    rm -rf "$folder"
    fail "$archive has the SHA-256 $found, and ${GATE_SHA256,,} is expected; nothing was installed"
  fi
  tar -xzf "$folder/archive.tar.gz" -C "$folder/unpacked" --no-same-owner || fail "cannot unpack $archive"
  local commands=("$folder"/unpacked/*/bin/cctrewrite)
  [ -x "${commands[0]}" ] || fail "$archive has no FOLDER/bin/cctrewrite"
  rm "$folder/archive.tar.gz"
  "${commands[0]}" --version
  dirname "${commands[0]}" >>"$GITHUB_PATH"
}

bench() {
  local summary=$RUNNER_TEMP/cctrewrite-summary.md page=${GATE_HISTORY%.jsonl}.html
  local arguments=(--class-path "$GATE_CLASS_PATH" --baseline "$GATE_BASELINE")
  arguments+=(--format github --summary "$summary")
  if [ -n "$GATE_HISTORY" ]; then
    arguments+=(--history "$GATE_HISTORY" --revision "$GATE_REVISION")
  fi
  local line
  while IFS= read -r line; do
    [ -z "$line" ] || arguments+=("$line")
  done <<<"$GATE_OPTIONS"
  arguments+=(--)
  while IFS= read -r line; do
    [ -z "$line" ] || arguments+=("$line")
  done <<<"$GATE_ENTRIES"

  rm -f "$summary"
  local code=0 verdict
  cctrewrite bench "${arguments[@]}" || code=$?
  case $code in
    0) verdict=passed ;;
    1) verdict=failed ;;
    *) verdict=error ;;
  esac
  if [ -f "$summary" ]; then
    cat "$summary" >>"$GITHUB_STEP_SUMMARY"
  else
    printf '**cctrewrite bench could not judge anything.** The log of this step has the reason.\n' >>"$GITHUB_STEP_SUMMARY"
  fi
  if [ -n "$GATE_HISTORY" ] && [ -f "$GATE_HISTORY" ] && [ "$verdict" != error ]; then
    cctrewrite bench history "$GATE_HISTORY" --last 50 --html "$page"
  fi
  printf 'verdict=%s\nsummary=%s\npage=%s\n' "$verdict" "$summary" "$page" >>"$GITHUB_OUTPUT"
  exit "$code"
}

case ${1-} in
  install) install ;;
  bench) bench ;;
  *) fail 'usage: gate.sh install, gate.sh bench' ;;
esac
