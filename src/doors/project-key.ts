/**
 * The key of a project. It becomes part of a scope, which others may read, so it holds no user name, no password
 * and no path of this machine.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";

export const KEY_LIMIT = 150;

const URL_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/]*)(.*)$/is;
/** The short form of ssh addresses: a colon before the first slash, with or without a user. */
const SCP_FORM = /^(?:([^/:@]*)@)?(\[[^\]/]+\]|[^/:@[\]]+):(?!\/\/)(.+)$/s;
const HELPER = /^[a-z0-9]+::/i;
/** One repository is reached through several of these ports, so they are left out of the key. */
const USUAL_PORTS = new Set(["", "21", "22", "80", "443", "9418"]);
/** Names under which these servers offer ssh on the port of HTTPS. */
const SAME_HOST: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};
/** A longer text is not read as an address; its key is a hash. */
const ADDRESS_LIMIT = 4_096;
const RESERVED = new Set(["global", "*"]);

/**
 * The key for a text that a person gave. A key that we made stays the same, so that keys can be passed on. Undefined when
 * nothing is left of the text.
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

/**
 * The project that a request names beside a call. A name with spaces or signs outside of ASCII, which no scope may hold, is the project that
 * hooks and commands make of it; any other stands for itself.
 */
export const namedProject = (given: string): string => (/^[!-~]*$/.test(given) ? given : (projectKey(given) ?? given));

/** The key of a remote's address; undefined when it is a path on this machine. */
export function remoteKey(address: string): string | undefined {
  const text = address.trim().replace(HELPER, "");
  if (text.length > ADDRESS_LIMIT) return opaque(text);
  if (/^file:/i.test(text) || /^[a-z]:[\\/]/i.test(text)) return undefined;
  const scp = SCP_FORM.exec(text);
  if (scp?.[1] === undefined && scp && !URL_FORM.test(text)) return fromHost(scp[2] ?? "", "", scp[3] ?? "");
  return scp || URL_FORM.test(text) || hidesPassword(text, /:/) ? projectKey(text) : undefined;
}

/** True when one of these signs comes before an `@`, both before the first slash. */
function hidesPassword(text: string, sign: RegExp): boolean {
  const before = text.split("/", 1)[0] ?? "";
  const first = before.search(sign);
  return first !== -1 && first < before.lastIndexOf("@");
}

/** The key of a path on this machine: its last name, and a hash that distinguishes it from others of that name. */
export function pathKey(kind: "path" | "git" | "folder", path: string): string {
  const named = basename(path) === ".git" ? path.slice(0, -".git".length) : path;
  const name =
    basename(named)
      .toLowerCase()
      .replace(/\.git$/, "") || "root";
  const key = `${kind}:${printable(name.replaceAll("@", "%40").replaceAll(":", "%3a"))}`;
  return `${cutAt(key, KEY_LIMIT - 9)}-${hashOf(path)}`;
}

function fromUrl(text: string): string | undefined {
  const [, authority = "", rest = ""] = URL_FORM.exec(text) ?? [];
  const server = authority.split(/[?#]/, 1)[0] ?? "";
  const address = /^(\[[^\]]+\]|[^:@]+)(?::(\d*))?$/.exec(server.slice(server.lastIndexOf("@") + 1));
  const path = rest.split(/[?#]/, 1)[0] ?? "";
  // A password that holds a slash or a question mark would be read as a server or a path.
  if (!address || rest.includes("@") || /[?#]/.test(authority)) return opaque(text);
  return fromHost(address[1] ?? "", address[2] ?? "", path);
}

function fromHost(host: string, port: string, path: string): string | undefined {
  const name = host.toLowerCase();
  const portPart = USUAL_PORTS.has(port) ? "" : `:${port}`;
  const inside = path.replace(/\/+/g, "/").replace(/^\//, "");
  if (inside.includes("@")) return opaque(`${host}:${port}/${path}`);
  return finished(`${SAME_HOST[name] ?? name}${portPart}/${inside}`);
}

const opaque = (text: string) => `remote:${hashOf(text, 16)}`;

function finished(text: string): string | undefined {
  let key = printable(text.toLowerCase());
  for (let before = ""; before !== key; ) {
    before = key;
    key = key.replace(/(?<!\/)\/+$/, "").replace(/([^/])\.git$/, "$1");
  }
  if (key === "") return undefined;
  if (RESERVED.has(key)) return `project:${key}`;
  return key.length <= KEY_LIMIT ? key : `${cutAt(key, KEY_LIMIT - 9)}-${hashOf(key)}`;
}

/** Printable ASCII without blanks; everything else percent-encoded as UTF-8. */
const printable = (text: string) =>
  text.replace(/[^\x21-\x7e]+/g, (run) => Buffer.from(run).toString("hex").replace(/../g, "%$&"));

/** Never cuts an encoded byte in two. */
const cutAt = (text: string, length: number) =>
  text.length <= length ? text : text.slice(0, length).replace(/%[0-9a-f]?$/, "");

const hashOf = (text: string, length = 8) => createHash("sha256").update(text).digest("hex").slice(0, length);
