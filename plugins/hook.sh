#!/bin/sh
# One event of a coding agent. A session starts with the opening that the owner of the memory keeps ready in a file; prompts and the ends of
# turns are sent to the owner, whose answer is printed. The agent never waits for an owner that is only starting.
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

umask 077
home=${BUTLER_HOME:-${baked_home:-$HOME/.butler}}
roster=${BUTLER_ROSTER:-$baked_roster}
socket=$home/run/owner.sock
# The socket of a home with a long path is elsewhere, and only the installer knows where.
if [ -n "$baked_socket" ] && [ "$home" = "$baked_home" ]; then socket=$baked_socket; fi

# A project's copy of this script is silent where the person has memory of their own: their copy is run for the same event.
if [ -z "$baked_entry" ] && [ -f "$home/installs/$agent/user/manifest.json" ]; then exit 0; fi

# What an answer with context looks like; empty where the event cannot bring any. A test compares it with src/hosts/hooks/dialects.ts.
moment=other
before=
after='"}'
case $agent:$event in
claude-code:SessionStart | codex:SessionStart) moment=start before='{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"' after='"}}' ;;
claude-code:UserPromptSubmit | codex:UserPromptSubmit) moment=prompt before='{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"' after='"}}' ;;
gemini:SessionStart) moment=start ;;
gemini:BeforeAgent) moment=prompt before='{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"' after='"}}' ;;
cursor:sessionStart) moment=start before='{"additional_context":"' ;;
cursor:beforeSubmitPrompt) moment=prompt ;;
opencode:session.created) moment=start before='{"context":"' ;;
opencode:chat.message) moment=prompt before='{"context":"' ;;
esac

# Some agents end the hook of a session's end after 1.5 s.
limit=1.5
case $event in
SessionEnd | sessionEnd) limit=1 ;;
esac

# The slow path: starts an owner if there is none, within its own time limit.
# Node takes thirty times as long to start as Perl, and ten times as long as curl.
ask_node() {
  node=$baked_node
  if [ -z "$node" ] || [ ! -x "$node" ]; then node=node; fi
  BUTLER_HOME=$home
  export BUTLER_HOME
  if [ -n "$roster" ]; then
    BUTLER_ROSTER=$roster
    export BUTLER_ROSTER
  fi
  if [ -n "$baked_entry" ] && [ -f "$baked_entry" ]; then
    $apart "$node" "$baked_entry" hook "$agent" "$event" --butler "$butler_name" "$@" 2>/dev/null
  elif command -v butler >/dev/null 2>&1; then
    $apart butler hook "$agent" "$event" --butler "$butler_name" "$@" 2>/dev/null
  fi
}
apart=

# Prints an answer. One without context is a warning: the opening is still to come.
show() {
  case $1 in
  '{'*) printf '%s\n' "$1" ;;
  esac
  case $1 in
  "$before"?*) note_answered ;;
  esac
}

# The file that notes what the session was given, and whether it is there.
find_mark() {
  mark=$marks$1
  if [ -f "$mark" ] && [ -O "$mark" ]; then marked=yes; fi
}

# The session has its opening now, by way of the owner, who knows what was in it.
note_answered() {
  if [ -n "$before" ] && [ -n "$mark" ] && [ -z "$marked" ]; then set_mark ''; fi
}

# Whether an owner may be listening. A socket or its folder that belongs to another user could be a trap to read what is sent; the slow path
# refuses it with a message.
has_socket() {
  [ -S "$socket" ] && [ -O "$socket" ] && [ -O "${socket%/*}" ] && [ ! -L "${socket%/*}" ]
}

# Sends the event to the owner; `body`, `status` and `spent` are what came back. Fails when no owner has dealt with it.
ask_owner() {
  if [ -n "$asked" ]; then return 1; fi
  path="/hooks/$agent/$event?butler=$butler_name$1"
  set --
  if [ -n "$project" ]; then set -- "$@" "x-butler-project: $project"; fi
  if [ -n "$given" ]; then set -- "$@" "x-butler-given: $given"; fi
  code=
  if [ -n "$has_perl" ]; then
    # Without a pipe a shell starts no process for either end of it. The line break at the end is not the event's.
    answer=$(
      LC_ALL=C PERL5OPT='' PERL_UNICODE=0 $apart perl -fe "$by_perl" "$socket" "$limit" "$path" '' "$@" 2>/dev/null <<event
$input
event
    )
    code=$?
  fi
  case $code in
  0 | 7 | 18 | 22 | 28 | 52) ;;
  *) if [ -n "$has_curl" ]; then ask_by_curl "$@"; fi ;;
  esac
  read_answer
}

read_answer() {
  body=${answer%"$newline"*}
  status=${answer##*"$newline"}
  spent=${status#* }
  status=${status%% *}
  session=${spent#* }
  spent=${spent%% *}
  [ "$code" = 0 ] && { [ "$status" = 200 ] || [ "$status" = 204 ]; }
}

# The same with an event that nobody has read yet: Perl reads it, which saves a process, finds out what its session was given (files of
# marks begin with $1, if it may have any), and names it as `session`. An event that no owner has dealt with comes back as `input`.
ask_at_once() {
  path="/hooks/$agent/$event?butler=$butler_name"
  of_session=$1
  set --
  if [ -n "$project" ]; then set -- "$@" "x-butler-project: $project"; fi
  answer=$(LC_ALL=C PERL5OPT='' PERL_UNICODE=0 perl -fe "$by_perl" "$socket" "$limit" "$path" "$of_session" "$@" 2>/dev/null)
  code=$?
  if read_answer; then return 0; fi
  case $code:$status in
  [1-9]*:000)
    input=$body
    asked=yes
    ;;
  *)
    # This Perl is broken. What it has not read is still there.
    input=$(cat)
    code=99
    ;;
  esac
  # It cannot ask here; another program may.
  if [ "$code" = 99 ]; then has_perl= code= spent= asked=; fi
  return 1
}

ask_by_curl() {
  for header; do
    shift
    set -- "$@" -H "$header"
  done
  set -- -q -s --noproxy '*' --unix-socket "$socket" --max-time "$limit" -H 'content-type: application/json' -H 'expect:' "$@"
  # Without a language of its own curl opens 34 files as it starts instead of 62. It encrypts nothing here: what libraries for that would
  # prepare as they are loaded is half a millisecond of eight.
  answer=$(printf '%s' "$input" | LC_ALL=C OPENSSL_CONF=/dev/null GNUTLS_NO_IMPLICIT_INIT=1 $apart curl "$@" --data-binary @- -w '\n%{http_code} %{time_total}' "http://localhost$path" 2>/dev/null)
  code=$?
}

# What curl does here, in the Perl that systems come with: it starts in 2 ms where curl takes 9, because it loads no libraries; so this
# uses none, and knows the few numbers that they would bring. Its exit codes are curl's; any other one leaves the question to curl.
by_perl='
my ($socket, $left, $path, $marks, @headers) = @ARGV;
my ($limit, $session) = ($left, "");
sub ending { sprintf "\n%s %.6f %s", shift, $limit - $left, $session }
binmode STDIN;
binmode STDOUT;
my $body = do { local $/; <STDIN> };
$body = "" unless defined $body;
$body =~ s/\n+\z//;
sub fail { print $body, ending("000"); exit shift }
fail(99) if $^O !~ /^(linux|darwin|(free|net|open)bsd)$/ || length $socket > 100;
$SIG{PIPE} = "IGNORE";
$SIG{ALRM} = sub { fail(28) };
alarm 1 + $limit;
if ($marks ne "" && substr($body, 0, 4000) =~ /"session_id":"([^"]*)"/ && $1 =~ /^(?!\.)[A-Za-z0-9_.-]{1,100}\z/) {
  $session = $&;
  my ($mark, $given) = $marks . $session;
  push @headers, "x-butler-given: $1" if -f $mark && -o _ && open($given, "<", $mark) && <$given> =~ /^([0-9a-f:,-]+)$/;
}
socket(my $owner, 1, 1, 0) or fail(99);
connect($owner, ($^O eq "linux" ? pack("S", 1) : pack("CC", 2 + length $socket, 1)) . $socket) or fail(7);
sub ready {
  my ($read, $write) = ("", "");
  vec($_[0] ? $read : $write, fileno $owner, 1) = 1;
  my ($found, $rest) = select($read, $write, undef, $left);
  fail(28) if $found < 1;
  $left = $rest if $rest < $left;
}
my $asked = join "\r\n", "POST $path HTTP/1.0", "host: localhost", "content-type: application/json",
  "content-length: " . length $body, @headers, "", $body;
for (my $at = 0; $at < length $asked;) {
  ready(0);
  my $sent = syswrite($owner, $asked, 8192, $at);
  last unless $sent;
  $at += $sent;
}
my ($answer, $whole) = ("", undef);
until (defined $whole && length $answer >= $whole) {
  ready(1);
  last unless sysread($owner, $answer, 65536, length $answer);
  next if defined $whole || $answer !~ /\r\n\r\n/;
  my $head = $+[0];
  $whole = $head if $answer =~ m{^HTTP/1\.\d 204};
  $whole = $head + $1 if substr($answer, 0, $head) =~ /\r\ncontent-length: *(\d+)/i;
}
fail(52) unless $answer =~ m{^HTTP/1\.\d (\d\d\d)[^\0]*?\r\n\r\n};
fail(18) if defined $whole && length $answer < $whole;
my ($status, $said) = ($1, substr $answer, $+[0]);
fail(22) if $status != 200 && $status != 204;
print $said, ending($status);
'
newline='
'

# Nobody has answered: Node uses what is left of the time, or only says so if nothing is left.
after_silence() {
  if [ "$code" = 28 ]; then
    # Warns once that memory is out of reach, and leaves an announcement in the spool.
    show "$(printf '%s' "$input" | ask_node --late)"
  else
    # No owner, or it died: the rest of the two seconds is for reaching another one.
    show "$(printf '%s' "$input" | ask_node ${spent:+--spent "$spent"} ${given:+--given "$given"})"
  fi
}

# Sets `value` to the text that follows $1 in the beginning of the event. A text with an escape in it is left to the owner, who reads JSON.
field() {
  value=
  case $beginning in
  *"$1"*\"*)
    value=${beginning#*"$1"}
    value=${value%%\"*}
    ;;
  esac
  case $value in
  *\\*) value= ;;
  esac
}

# Finds the folder that the project's opening is filed under, as src/hosts/projects/project.ts does: the nearest folder with a repository, else
# the session's own. `root` is empty for "/". Fails where only the owner can tell: links named .git, bare repositories, the inside of .git.
find_root() {
  value=
  if [ "$agent" = cursor ]; then field '"workspace_roots":["'; fi
  if [ -z "$value" ]; then field '"cwd":"'; fi
  case $value in
  /*) ;;
  *) return 1 ;;
  esac
  # The slash at the end keeps line breaks that a folder's name ends with.
  root=$(cd -P -- "$value" 2>/dev/null && printf '%s/' "$PWD") || return 1
  root=${root%/}
  if [ "$root" = / ]; then root=; fi
  git=none
  here=$root
  while :; do
    if [ -L "$here/.git" ]; then return 1; fi
    if [ -f "$here/.git/HEAD" ] || [ -f "$here/.git" ]; then
      root=$here git=found
      return 0
    fi
    if [ -f "$here/HEAD" ] && [ -d "$here/objects" ]; then return 1; fi
    if [ -z "$here" ]; then return 0; fi
    here=${here%/*}
  done
}

# Reads an opening (src/hosts/openings/opening-file.ts says what is in it): what it `holds` and its `text`, escaped for JSON. Fails when it
# is not the user's own, too old, or made for another roster or for settings that have changed since.
read_opening() {
  if [ ! -f "$1" ] || [ -L "$1" ] || [ ! -O "$1" ]; then return 1; fi
  expires= for_root= for_git= for_roster= holds= text= whole=
  {
    IFS= read -r line
    if [ "$line" != 'butler opening 1' ]; then return 1; fi
    while IFS= read -r line; do
      case $line in
      'until '*) expires=${line#until } ;;
      'root '*) for_root=${line#root } ;;
      'git '*) for_git=${line#git } ;;
      'roster '*) for_roster=${line#roster } ;;
      'needs '*) if [ ! -e "${line#needs }" ]; then return 1; fi ;;
      'after '*) if [ ! -f "${line#after }" ] || [ "${line#after }" -nt "$1" ]; then return 1; fi ;;
      'holds '*) holds=${line#holds } ;;
      'text '*) text=${line#text } whole=nearly ;;
      end) if [ "$whole" = nearly ]; then whole=yes; fi ;;
      *) return 1 ;;
      esac
    done
  } 2>/dev/null <"$1"
  now=$(date +%s 2>/dev/null)
  for number in "$expires" "$now"; do
    case $number in
    '' | 0* | *[!0123456789]*) return 1 ;;
    esac
  done
  [ "$whole" = yes ] && [ "$for_roster" = "$roster" ] && [ "$now" -lt "$expires" ] && [ $((expires - now)) -le 86400 ]
}

# The opening of this folder's project, `kept=project`; for a folder that the owner has never seen the butler's own, `kept=butler`.
find_opening() {
  if [ -n "$BUTLER_NOW$BUTLER_PROJECT$BUTLER_DATABASE_URL" ] || [ -z "$mark" ]; then return 1; fi
  openings=$home/openings/$butler_name
  if [ ! -d "$openings" ] || [ ! -O "$openings" ] || [ -L "$openings" ] || [ ! -O "$home/openings" ] || [ -L "$home/openings" ]; then return 1; fi
  find_root || return 1
  file=$openings/at$root/.opening
  if [ -e "$file" ]; then
    kept=project
    read_opening "$file" && [ "$for_root" = "${root:-/}" ] && [ "$for_git" = "$git" ]
  else
    kept=butler
    read_opening "$openings/own"
  fi
}

# Notes that the session has been given its opening, and which memories that held.
set_mark() {
  printf '%s\n' "$1" 2>/dev/null >"$mark"
}

# Prints the opening that was found. Whoever cannot be noted as told gets it from the owner.
give() {
  set_mark "$holds" || return 1
  given=$holds
  if [ -n "$text" ]; then printf '%s\n' "$before$text$after"; fi
  if [ "$moment" = start ]; then hand_over; else call_owner; fi
}

# Sends the event to the owner in the background, and starts one if there is none: in a session of its own and without the agent's pipes, so
# that the agent neither waits for it nor ends it. The answer is not wanted any more; when the event was tells whether it comes too late.
hand_over() {
  : "${now:=$(date +%s 2>/dev/null)}"
  # 7: nobody listens at the socket, because its owner was killed. Without the note every prompt would start a process of its own.
  if ! has_socket || [ "$code" = 7 ]; then printf '%s\n' "$now" 2>/dev/null >"$called"; fi
  {
    trap '' HUP
    if command -v setsid >/dev/null 2>&1; then apart=setsid; fi
    limit=20 asked=
    # An owner takes a small machine's cores for a second while it starts, and so does the agent: the owner begins when the agent is ready.
    # opencode asks its model 1.3 s after it has begun a session.
    if ! has_socket && command -v sleep >/dev/null 2>&1; then $apart sleep 2; fi
    if [ -n "$can_ask" ] && has_socket && ask_owner "&gone=$now"; then exit 0; fi
    printf '%s' "$input" | ask_node --gone "$now" ${given:+--given "$given"}
  } </dev/null >/dev/null 2>&1 &
}

# Whether an owner was called in the last ten seconds and has not said since, by removing the file, that its memory is open.
is_starting() {
  last=
  if [ ! -f "$called" ] || [ ! -O "$called" ]; then return 1; fi
  IFS= read -r last 2>/dev/null <"$called"
  : "${now:=$(date +%s 2>/dev/null)}"
  case $now:$last in
  :* | *: | *[!0123456789:]* | *:0*) return 1 ;;
  esac
  [ $((now - last)) -ge 0 ] && [ $((now - last)) -lt 10 ]
}

# The same after a prompt, unless an owner is starting: one more process would only slow it down. What a prompt tells is told again at the end
# of its turn.
call_owner() {
  if ! is_starting; then hand_over; fi
}

called=$home/run/called
now=
given=
input=
code=
spent=
asked=
mark=
marked=
project=
case $BUTLER_PROJECT in
*"$newline"*) ;;
*) project=$BUTLER_PROJECT ;;
esac
has_perl=
if command -v perl >/dev/null 2>&1; then has_perl=yes; fi
has_curl=
if command -v curl >/dev/null 2>&1; then has_curl=yes; fi
can_ask=$has_perl$has_curl
has_cat=
if command -v cat >/dev/null 2>&1; then has_cat=yes; fi

if [ -z "$has_cat" ] || { [ "$moment" = other ] && { [ -z "$can_ask" ] || ! has_socket; }; }; then
  show "$(ask_node)"
  exit 0
fi

marks=$home/spool/given.$butler_name.$agent.
if [ -z "$has_perl" ] || ! has_socket || [ -e "$called" ]; then
  input=$(cat)
elif [ "$moment" = other ]; then
  if ask_at_once ''; then
    show "$body"
    exit 0
  fi
elif [ "$moment" = prompt ] && [ -n "$before" ]; then
  if ask_at_once "$marks"; then
    if [ -n "$session" ]; then find_mark "$session"; fi
    show "$body"
    if [ "$status" = 204 ]; then note_answered; fi
    exit 0
  fi
else
  input=$(cat)
fi

if [ "$moment" = other ]; then
  if ask_owner; then show "$body"; else after_silence; fi
  exit 0
fi

# Long prompts come after the fields that are read here, and cutting at them would take a shell seconds.
beginning=$input
if [ ${#input} -gt 4000 ]; then beginning=$(printf '%.4000s' "$input"); fi
value=
if [ "$agent" = cursor ]; then field '"conversation_id":"'; fi
if [ -z "$value" ]; then field '"session_id":"'; fi
case $value in
'' | .* | *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-]*) ;;
*) if [ ${#value} -le 100 ]; then find_mark "$value"; fi ;;
esac
if [ -n "$marked" ]; then
  IFS= read -r given 2>/dev/null <"$mark"
  case $given in
  *[!0123456789abcdef:,-]*) given= ;;
  esac
fi
may_start=yes
case $BUTLER_AUTOSTART in
0 | off | false) may_start= ;;
esac

# A moment that brings nothing does not wait for anybody.
if [ -z "$before" ]; then
  if [ "$agent" = cursor ]; then printf '%s\n' '{"continue":true}'; fi
  if [ "$moment" = start ] || has_socket; then hand_over; else call_owner; fi
  exit 0
fi

if [ "$moment" = start ]; then
  field '"source":"'
  source=${value:-startup}
else
  source=
fi

# A session that begins has said nothing yet and was told nothing: what is kept for its project is what the owner would say. A running owner
# knows more while a change is being written down, and in a folder that was never seen: it may be another clone of a repository.
found=
if [ "$source" = startup ] && find_opening; then
  found=yes
  if has_socket && ! is_starting; then
    if [ "$kept" = project ] && [ ! -e "$openings/changing" ] && give; then exit 0; fi
  elif [ -n "$may_start" ] && give; then
    exit 0
  fi
fi

# An owner that listens but is still opening its memory would use up the time of whoever has, or can have, an opening from its file.
waits_for=owner
if is_starting && { [ -n "$marked" ] || [ -n "$found" ] || { [ "$moment" = prompt ] && find_opening && found=yes; }; }; then waits_for=nobody; fi
if [ "$waits_for" = owner ] && has_socket; then
  if [ -n "$can_ask" ]; then
    if ask_owner; then
      # An owner that is too busy only says so: what is kept ready is better.
      case $found:$status:$body in
      yes:200:"$before"?*) ;;
      yes:200:*) if give; then exit 0; fi ;;
      esac
      show "$body"
      if [ "$status" = 204 ]; then note_answered; fi
      exit 0
    fi
  elif [ "$moment" = prompt ]; then
    # Without Perl and curl only Node can tell whether an owner answers.
    after_silence
    exit 0
  fi
fi

# Nobody has answered. Where no owner may be started, the session is told so.
if [ -z "$may_start" ]; then
  after_silence
  exit 0
fi
if [ -n "$marked" ] && { [ "$moment" = prompt ] || [ "$source" = resume ]; }; then
  if [ -f "$home/run/owner.error" ] && [ ! -e "$mark.warned" ]; then
    printf '\n' 2>/dev/null >"$mark.warned"
    code=28
  fi
  if [ "$code" = 28 ]; then
    after_silence
  elif [ "$moment" = start ]; then
    hand_over
  else
    call_owner
  fi
  exit 0
fi
if [ "$source" != resume ] && { [ -n "$found" ] || find_opening; } && give; then exit 0; fi
after_silence
exit 0
