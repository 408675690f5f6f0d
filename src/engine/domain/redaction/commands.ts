/** Passwords on command lines, where a program's own flag gives them away. */
import { type Finder, groupAt, matchAt, matches, type Span } from "./scan.ts";
import { isMask, isTypeName } from "./words.ts";

/** A quoted value, or one up to the next blank; group names are the same in every row. */
const V = `(?:'([^'\\n]{2,200})'|"([^"\\n]{2,200})"|([^\\s"'$<>|;&-][^\\s"'<>|;&]{1,200}))`;
const rows: readonly (readonly [programs: string, argument: string, chosen?: boolean])[] = [
  ["mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|7z|7za|unrar|rar", `\\s-p${V}`],
  [
    "docker login|podman login|buildah login|skopeo login|helm registry login|oc login|az login|az acr login|cf login",
    `\\s-p[ \\t=]*${V}`,
  ],
  ["sshpass", `\\s-p[ \\t]*${V}`],
  [
    "curl|http|https|xh|jira",
    `\\s(?:-u|--user|-a|--auth)[ \\t=]*["']?[^\\s:"'$]{1,100}:([^\\n"'$<]{1,256}(?=["'])|[^\\s"'$<]{1,256})`,
  ],
  ["curl", `\\s(?:-b|--cookie)[ \\t=]*["']?[\\w.-]{1,60}=([^\\s;"'$<]{8,256})`],
  ["redis-cli", `\\s(?:-a|--pass)[ \\t=]+${V}`],
  ["mongo|mongosh|mongodump|mongorestore|mongoexport|influx", `\\s-p[ \\t]+${V}`],
  ["ldapsearch|ldapmodify|ldapadd|ldapwhoami|ldapdelete", `\\s-w[ \\t]+${V}`],
  ["smbclient|rpcclient|winexe|net ads|smbmap", `\\s-U[ \\t]+["']?[^\\s%"']{1,100}%([^\\s"'$]{2,200})`],
  ["net use", `\\\\\\\\\\S{1,100}[ \\t]+([^\\s/*$][^\\s]{3,100})(?=[ \\t]+/user)`],
  ["openssl", `\\s-(?:passin|passout|pass)[ \\t]+pass:([^\\s"'$]{2,200})`],
  ["openssl enc", `\\s-k[ \\t]+${V}`],
  ["zip|unzip|zipcloak", `\\s-P[ \\t]*${V}`],
  ["sqlcmd|bcp|isql|osql", `\\s-P[ \\t]*${V}`],
  ["ipmitool", `\\s-P[ \\t]+${V}`],
  ["htpasswd", `\\s-(?=[a-zA-Z]*b)[a-zA-Z]+[ \\t]+(?:\\S{1,200}[ \\t]+)?\\S{1,100}[ \\t]+${V}`],
  [
    "rabbitmqctl add_user|rabbitmqctl change_password|smbpasswd|wpa_passphrase|mc alias set \\S{1,60} \\S{1,100}",
    `(?<![ \\t])[ \\t]+\\S{1,100}[ \\t]+${V}`,
  ],
  ["xfreerdp|rdesktop|mstsc|cmdkey", `\\s(?:/p(?:ass)?:|-p[ \\t]+)${V}`],
  ["snmpget|snmpwalk|snmpset|snmpbulkwalk|snmpgetnext", `\\s-A[ \\t]+${V}`],
  ["snmpget|snmpwalk|snmpset|snmpbulkwalk|snmpgetnext", `\\s-X[ \\t]+${V}`],
  ["nmcli", `\\s(?:password|wifi-sec\\.psk|802-11-wireless-security\\.psk)[ \\t]+${V}`],
  [
    "vault login|cargo login|npm login|ngrok authtoken|ngrok config add-authtoken|doctl auth init -t|gh secret set \\S{1,60} --body",
    `(?<![ \\t])[ \\t]+${V}`,
    true,
  ],
  ["npm config set", `_(?:authToken|auth|password)[ \\t=]+${V}`],
  ["netlify", `\\s--auth[ \\t=]+${V}`],
  ["send", `(?<![ \\t])[ \\t]+"([^"\\\\\\n]{3,100})\\\\r"`, true],
];

interface Command {
  readonly program: RegExp;
  readonly argument: RegExp;
  readonly chosen: boolean;
}

/** By the first word of the program: looked for once, its rows are tried where it stands. */
const COMMANDS = new Map<string, Command[]>();
for (const [programs, argument, chosen = false] of rows) {
  const command = {
    program: new RegExp(`(?:${programs})(?=[ \\t])`, "y"),
    argument: new RegExp(argument, "d"),
    chosen,
  };
  for (const first of new Set(programs.split("|").map((name) => name.split(" ")[0] ?? "")))
    COMMANDS.set(first, [...(COMMANDS.get(first) ?? []), command]);
}
const PROGRAM = new RegExp(`(?<![\\w.-])(?:${[...COMMANDS.keys()].join("|")})(?=[ \\t])`, "g");
/** A command ends with its line, or with the next one of a pipe; a continued line is part of it. */
const COMMAND_END = /(?<!\\)\n|\|\|?|&&/;
const LONGEST_COMMAND = 600;

const isArgument = (value: string) => !isMask(value) && !isTypeName(value) && !/^(?:\$|%\w|-)/.test(value);

const commandLines: Finder = function* ({ text }): Generator<Span> {
  const found = [...matches(PROGRAM, text)];
  for (const [i, { index, 0: word }] of found.entries()) {
    const limit = Math.min(index + LONGEST_COMMAND, found[i + 1]?.index ?? text.length);
    const window = text.slice(index, limit);
    const line = window.slice(0, COMMAND_END.exec(window)?.index);
    for (const { program, argument, chosen } of COMMANDS.get(word) ?? []) {
      const head = matchAt(program, line, 0)?.[0].length;
      const match = head === undefined ? null : argument.exec(line.slice(head));
      const at = match?.indices?.slice(1).find((range) => range !== undefined);
      if (head === undefined || at === undefined) continue;
      const value = line.slice(head + at[0], head + at[1]);
      if (isArgument(value) && (!chosen || /\d/.test(value)))
        yield { start: index + head + at[0], end: index + head + at[1], kind: "password" };
    }
  }
};

/** `echo X | sudo -S`, `echo bob:X | chpasswd` */
const PIPED =
  /(?<![\w-])(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?["']?(?:[\w.-]{1,40}:)?([^\s"'$|]{4,100})["']?[ \t]*\|[ \t]*(?:sudo[ \t]+-\w*S|chpasswd|cryptsetup|docker login|gpg|openssl)|--password-command[ \t=]+["']?(?:echo|printf)[ \t]+["']?([^\s"'$|]{4,100})/dg;

const piped: Finder = function* ({ text }): Generator<Span> {
  if (!text.includes("echo ") && !text.includes("printf ")) return;
  for (const match of matches(PIPED, text)) {
    const at = groupAt(match, 1) ?? groupAt(match, 2);
    if (at && isArgument(text.slice(at[0], at[1]))) yield { start: at[0], end: at[1], kind: "password" };
  }
};

export const commandFinders: readonly Finder[] = [commandLines, piped];
