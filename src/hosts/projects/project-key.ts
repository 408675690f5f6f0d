/**
 * The name under which a project's memories are filed. It becomes part of a scope, which others may read: no user, no password
 * and no path of this machine stands in it.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";

export const KEY_LIMIT = 150;

const URL_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/]*)(.*)$/is;
/** How ssh is commonly written: a colon before the first slash, and a user before the host or not. */
const SCP_FORM = /^(?:([^/:@]*)@)?(\[[^\]/]+\]|[^/:@[\]]+):(?!\/\/)(.+)$/s;
const HELPER = /^[a-z0-9]+::/i;
/** Which of the usual doors a server is reached through says nothing about what lies behind. */
const USUAL_PORTS = new Set(["", "21", "22", "80", "443", "9418"]);
/** Names under which hosts offer ssh to those who may only use the port of the web. */
const SAME_HOST: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};
/** No address is longer; what is cannot be read as one, and is told apart by its mark alone. */
const ADDRESS_LIMIT = 4_096;
const RESERVED = new Set(["global", "*"]);

/**
 * A key that a person gave, or one that we made: the same text again for the second, so that keys can be handed on. Undefined when
 * nothing is left of it.
 */
export function projectKey(given: string): string | undefined {
  const text = given.trim();
  if (text.length > ADDRESS_LIMIT) return opaque(text);
  if (HELPER.test(text)) return projectKey(text.replace(HELPER, ""));
  if (URL_FORM.test(text)) return fromUrl(text);
  if (hidesPassword(text, /[:@]/)) return opaque(text);
  const scp = SCP_FORM.exec(text);
  if (scp?.[1] !== undefined) return fromHost(scp[2] ?? "", "", scp[3] ?? "");
  return finished(text);
}

/** The key of a remote's address; undefined when it is a path on this machine. */
export function remoteKey(address: string): string | undefined {
  const text = address.trim().replace(HELPER, "");
  if (text.length > ADDRESS_LIMIT) return opaque(text);
  if (/^file:/i.test(text) || /^[a-z]:[\\/]/i.test(text)) return undefined;
  const scp = SCP_FORM.exec(text);
  if (scp?.[1] === undefined && scp && !URL_FORM.test(text)) return fromHost(scp[2] ?? "", "", scp[3] ?? "");
  return scp || URL_FORM.test(text) || hidesPassword(text, /:/) ? projectKey(text) : undefined;
}

/** Before the first slash stands one of these signs, and later an `@`. */
function hidesPassword(text: string, sign: RegExp): boolean {
  const before = text.split("/", 1)[0] ?? "";
  const first = before.search(sign);
  return first !== -1 && first < before.lastIndexOf("@");
}

/** A place on this machine: its last name, and a mark that tells it from others of that name. */
export function pathKey(kind: "path" | "git" | "folder", path: string): string {
  const named = basename(path) === ".git" ? path.slice(0, -".git".length) : path;
  const name =
    basename(named)
      .toLowerCase()
      .replace(/\.git$/, "") || "root";
  const key = `${kind}:${printable(name.replaceAll("@", "%40").replaceAll(":", "%3a"))}`;
  return `${cutAt(key, KEY_LIMIT - 9)}-${mark(path)}`;
}

function fromUrl(text: string): string | undefined {
  const [, authority = "", rest = ""] = URL_FORM.exec(text) ?? [];
  const server = authority.split(/[?#]/, 1)[0] ?? "";
  const door = /^(\[[^\]]+\]|[^:@]+)(?::(\d*))?$/.exec(server.slice(server.lastIndexOf("@") + 1));
  const path = rest.split(/[?#]/, 1)[0] ?? "";
  // A password with a slash or a question mark in it would be taken for a host or a path.
  if (!door || rest.includes("@") || /[?#]/.test(authority)) return opaque(text);
  return fromHost(door[1] ?? "", door[2] ?? "", path);
}

function fromHost(host: string, port: string, path: string): string | undefined {
  const name = host.toLowerCase();
  const door = USUAL_PORTS.has(port) ? "" : `:${port}`;
  const inside = path.replace(/\/+/g, "/").replace(/^\//, "");
  if (inside.includes("@")) return opaque(`${host}:${port}/${path}`);
  return finished(`${SAME_HOST[name] ?? name}${door}/${inside}`);
}

const opaque = (text: string) => `remote:${mark(text, 16)}`;

function finished(text: string): string | undefined {
  let key = printable(text.toLowerCase());
  for (let before = ""; before !== key; ) {
    before = key;
    key = key.replace(/(?<!\/)\/+$/, "").replace(/([^/])\.git$/, "$1");
  }
  if (key === "") return undefined;
  if (RESERVED.has(key)) return `project:${key}`;
  return key.length <= KEY_LIMIT ? key : `${cutAt(key, KEY_LIMIT - 9)}-${mark(key)}`;
}

/** Printable ASCII without blanks; everything else as the bytes of its UTF-8. */
const printable = (text: string) =>
  text.replace(/[^\x21-\x7e]+/g, (run) => Buffer.from(run).toString("hex").replace(/../g, "%$&"));

/** Never in the middle of an encoded byte. */
const cutAt = (text: string, length: number) =>
  text.length <= length ? text : text.slice(0, length).replace(/%[0-9a-f]?$/, "");

const mark = (text: string, length = 8) => createHash("sha256").update(text).digest("hex").slice(0, length);
