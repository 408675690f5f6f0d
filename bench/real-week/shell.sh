#!/bin/sh
# The shell of Claude Code in the scripted week: each command that its model calls prints what the week's file says it prints, in order.
case "$*" in
*"&& eval "*) ;;
*) exec /bin/bash "$@" ;;
esac
set -- "$WEEK_OUTPUTS"/*
[ -f "$1" ] || exit 0
cat "$1"
rm "$1"
case $1 in
*.failed) exit 1 ;;
esac
