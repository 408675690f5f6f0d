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

# Sets `method` and `id` (empty: a notification) of a line in one of the two orders in which clients write them. Fails for any other.
parse() {
  id=
  if [ ${#line} -gt 4000 ]; then return 1; fi
  case $line in
  *\\* | *io.modelcontextprotocol* | *'"cursor"'* | *'"tasks"'*) return 1 ;;
  '{"jsonrpc":"2.0","id":'*)
    rest=${line#'{"jsonrpc":"2.0","id":'}
    id=${rest%%,*}
    rest=${rest#"$id",}
    ;;
  '{"jsonrpc":"2.0",'*) rest=${line#'{"jsonrpc":"2.0",'} ;;
  '{"method":'*',"jsonrpc":"2.0"}') rest=${line#'{'} ;;
  '{"method":'*',"jsonrpc":"2.0","id":'*)
    rest=${line#'{'}
    id=${line##*',"jsonrpc":"2.0","id":'}
    id=${id%'}'}
    ;;
  *) return 1 ;;
  esac
  case $rest in
  '"method":"'*) ;;
  *) return 1 ;;
  esac
  method=${rest#'"method":"'}
  method=${method%%\"*}
  case $id in
  *[!0123456789]* | 0?* | ????????????????*) return 1 ;;
  esac
}

# Sets `version` to the one of the protocol that the client asks for.
ask_version() {
  version=${line#*'"protocolVersion":"'}
  case $version in
  "$line" | *'"protocolVersion"'*) return 1 ;;
  esac
  version=${version%%\"*}
  case $version in
  *[!0123456789-]*) return 1 ;;
  esac
}

# Prints a recorded answer. What is put into it holds only characters that mean nothing to sed.
answer() {
  [ -f "$answers/$1" ] && LC_ALL=C sed -e "s/@id@/$id/" -e "s/@butler@/$butler/g" "$answers/$1"
}

# Answers the line; fails where only Node can.
reply() {
  parse || return 1
  case $era:$method:$id in
  opening:initialize:?*) ask_version && answer "initialize.$version" && era=legacy ;;
  legacy:notifications/initialized:) ;;
  legacy:ping:?*) answer ping ;;
  legacy:tools/list:?*) answer tools.list ;;
  legacy:prompts/list:?*) answer prompts.list ;;
  legacy:resources/list:?*) answer resources.list ;;
  legacy:resources/templates/list:?*) answer resources.templates.list ;;
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
