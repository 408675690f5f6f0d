#!/bin/sh
# One event of a coding agent: sends the JSON on stdin to the owner of the memory and prints the owner's answer.
# It never makes the agent fail: the exit code is always 0, and stdout holds one JSON object or nothing.
# usage: hook.sh <agent> <event>

# "butler install" writes these lines; an empty value is looked up when the hook runs.
butler_name='general'
baked_node=''
baked_entry=''
baked_home=''
baked_socket=''
baked_roster=''

agent=$1
event=$2

if [ "$BUTLER_CONSOLIDATION" = 1 ] || [ "$BUTLER_SPAWNED" = 1 ] || [ "$BUTLER_HOOKS" = off ]; then exit 0; fi

home=${BUTLER_HOME:-${baked_home:-$HOME/.butler}}
socket=$home/run/owner.sock
# The socket of a home with a long path is elsewhere, and only the installer knows where.
if [ -n "$baked_socket" ] && [ "$home" = "$baked_home" ]; then socket=$baked_socket; fi

# The slow path: starts an owner if there is none, within its own time limit.
# Node takes ten times as long to start as curl.
ask_node() {
  node=$baked_node
  if [ -z "$node" ] || [ ! -x "$node" ]; then node=node; fi
  BUTLER_HOME=$home
  export BUTLER_HOME
  if [ -n "$baked_roster" ] && [ -z "$BUTLER_ROSTER" ]; then
    BUTLER_ROSTER=$baked_roster
    export BUTLER_ROSTER
  fi
  if [ -n "$baked_entry" ] && [ -f "$baked_entry" ]; then
    "$node" "$baked_entry" hook "$agent" "$event" --butler "$butler_name" "$@" 2>/dev/null
  elif command -v butler >/dev/null 2>&1; then
    butler hook "$agent" "$event" --butler "$butler_name" "$@" 2>/dev/null
  fi
}

show() {
  case $1 in
  '{'*) printf '%s\n' "$1" ;;
  esac
}

# A socket or its folder that belongs to another user could be a trap to read what is sent; the slow path refuses it with a message.
if [ ! -S "$socket" ] || [ ! -O "$socket" ] || [ ! -O "${socket%/*}" ] || [ -L "${socket%/*}" ] || ! command -v curl >/dev/null 2>&1 || ! command -v cat >/dev/null 2>&1; then
  show "$(ask_node)"
  exit 0
fi

# Some agents end the hook of a session's end after 1.5 s.
limit=1.5
case $event in
SessionEnd | sessionEnd) limit=1 ;;
esac

input=$(cat)
set -- -q -s --noproxy '*' --unix-socket "$socket" --max-time "$limit" -H 'content-type: application/json' -H 'expect:'
if [ -n "$BUTLER_PROJECT" ]; then set -- "$@" -H "x-butler-project: $BUTLER_PROJECT"; fi
newline='
'
answer=$(printf '%s' "$input" | curl "$@" --data-binary @- -w '\n%{http_code} %{time_total}' \
  "http://localhost/hooks/$agent/$event?butler=$butler_name" 2>/dev/null)
code=$?
body=${answer%"$newline"*}
status=${answer##*"$newline"}
spent=${status#* }
status=${status%% *}

if [ "$code" = 0 ] && [ "$status" = 200 ]; then
  show "$body"
elif [ "$code" = 0 ] && [ "$status" = 204 ]; then
  :
elif [ "$code" = 28 ]; then
  # The time is used up: Node only warns once that memory is out of reach, and leaves an announcement in the spool.
  show "$(printf '%s' "$input" | ask_node --late)"
else
  # No owner, or it died: the rest of the two seconds is for reaching another one.
  show "$(printf '%s' "$input" | ask_node --spent "${spent:-0}")"
fi
exit 0
