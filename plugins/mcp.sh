#!/bin/sh
# The MCP server of an agent until its model uses the memory. Agents wait for their servers at each start, and Node takes longer to start than
# everything that is said there: the introduction and the lists are printed from files that the build has recorded. The first message that is
# anything else is handed to "butler mcp", which takes the place of this shell. Most sessions end before.
# usage: mcp.sh <node> <butler.js> mcp --butler <name> [...]
node=$1
entry=$2
shift 2

answers=${entry%/*}/commands/mcp-answers
butler=
before=
for word in "$@"; do
  if [ "$before" = --butler ]; then butler=$word; fi
  before=$word
done
era=opening

# The line that was read last waits at descriptor 3; the ones after it are still in stdin.
become_node() {
  exec "$node" "$entry" "$@" --after "$era" 3<<EOF
$line
EOF
}

# Sets `method` and `id` (empty: a notification) of a line in one of the orders in which clients write them. Fails for any other.
parse() {
  id=
  if [ ${#line} -gt 4000 ]; then return 1; fi
  case $line in
  *\\* | *'"cursor"'* | *'"tasks"'*) return 1 ;;
  '{"jsonrpc":"2.0","id":'*)
    rest=${line#'{"jsonrpc":"2.0","id":'}
    id=${rest%%,*}
    rest=${rest#"$id",}
    ;;
  '{"jsonrpc":"2.0",'*) rest=${line#'{"jsonrpc":"2.0",'} ;;
  '{"method":'*)
    rest=${line#'{'}
    case $rest in
    *',"jsonrpc":"2.0"}') ;;
    *',"jsonrpc":"2.0","id":'*'}')
      id=${rest##*',"jsonrpc":"2.0","id":'}
      id=${id%%[,\}]*}
      ;;
    *) return 1 ;;
    esac
    ;;
  *) return 1 ;;
  esac
  case $rest in
  '"method":"'*) ;;
  *) return 1 ;;
  esac
  method=${rest#'"method":"'}
  method=${method%%\"*}
  case $method in
  *[!abcdefghijklmnopqrstuvwxyz/]*) return 1 ;;
  esac
  case $id in
  *[!0123456789]*)
    word=${id#\"}
    if [ "\"${word%\"}\"" != "$id" ]; then return 1; fi
    case ${word%\"} in
    *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-]*) return 1 ;;
    esac
    ;;
  0?* | ????????????????*) return 1 ;;
  esac
}

# Sets `version` to the one that follows $1 in the line, once.
find_version() {
  version=${line#*"$1"}
  case $version in
  "$line" | *"$1"*) return 1 ;;
  esac
  version=${version%%\"*}
  case $version in
  *[!0123456789-]*) return 1 ;;
  esac
}

# Which of the two families of versions the line is of, as src/doors/mcp/stdio/era.ts says: those of 2025 are introduced by "initialize", the
# later ones name their version in each request.
find_family() {
  case $line in
  *io.modelcontextprotocol/*)
    family=modern
    find_version '"io.modelcontextprotocol/protocolVersion":"' || return 1
    case $line in
    *'"io.modelcontextprotocol/clientCapabilities":{'*) [ -f "$answers/modern/server/discover/$version" ] ;;
    *) return 1 ;;
    esac
    ;;
  *) family=legacy ;;
  esac
}

# Prints a recorded answer. What is put into it holds only characters that mean nothing to sed.
answer() {
  [ -f "$answers/$1" ] && LC_ALL=C sed -e "s/@id@/$id/" -e "s/@butler@/$butler/g" "$answers/$1"
}

# Answers the line; fails where only Node can.
reply() {
  parse && find_family || return 1
  case $family:$era:$method:$id in
  legacy:opening:initialize:?*) find_version '"protocolVersion":"' && answer "legacy/initialize/$version" && era=legacy ;;
  legacy:legacy:notifications/initialized:) ;;
  legacy:legacy:ping:?* | legacy:legacy:*/list:?*) answer "legacy/$method" ;;
  modern:opening:server/discover:?* | modern:probed:server/discover:?*) answer "modern/server/discover/$version" && era=probed ;;
  modern:opening:*/list:?* | modern:probed:*/list:?* | modern:modern:*/list:?*) answer "modern/$method" && era=modern ;;
  *) return 1 ;;
  esac
}

known=yes
case $butler in
'' | *[!abcdefghijklmnopqrstuvwxyz0123456789_-]*) known= ;;
esac
while IFS= read -r line; do
  if [ -z "$known" ] || ! reply; then become_node "$@"; fi
done
# The last line may have no end.
if [ -n "$line" ]; then become_node "$@"; fi
