/**
 * Which of the two families of protocol versions a connection speaks. Those of 2025 begin with `initialize`; since 2026-07-28 every request
 * carries a claim of its version in `_meta`, and may be preceded by `server/discover`. The first message decides, for as long as the
 * connection lasts.
 */
import { isRecord } from "../../../engine/domain/record.ts";
import { isRequest, isRequestId, type Message } from "./json-rpc.ts";

/** `probed`: asked with `server/discover`, and not decided yet. */
export const ERAS = ["opening", "probed", "legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];

const PREFIX = "io.modelcontextprotocol";
export const VERSION = `${PREFIX}/protocolVersion`;
export const CAPABILITIES = `${PREFIX}/clientCapabilities`;

/** Versions are dates, and are compared as texts. */
const FIRST_MODERN = "2026-07-28";

export function eraAfter(era: Era, message: Message, modernVersions: readonly string[]): Era {
  if (era === "legacy" || era === "modern") return era;
  if (!claims(message)) return "legacy";
  if (message.method === "initialize" && !isModern(message, (version) => version >= FIRST_MODERN)) return "legacy";
  // A claim that is invalid, or of a version that is not served, is refused and decides nothing.
  if (!isModern(message, (version) => modernVersions.includes(version))) return era;
  if (!isRequest(message)) return era === "probed" ? era : "modern";
  return message.method === "server/discover" ? "probed" : "modern";
}

/** True when the message claims a version by itself, rightly or not. */
function claims({ params }: Message): boolean {
  return isRecord(params?._meta) && VERSION in params._meta;
}

/** True when its claim is valid, and of a version that is accepted. */
export function isModern({ params }: Message, accepts: (version: string) => boolean): boolean {
  const meta = params?._meta;
  return (
    isRecord(meta) &&
    isText(meta[VERSION]) &&
    accepts(meta[VERSION]) &&
    optional(meta.progressToken, isRequestId) &&
    optional(meta[`${PREFIX}/clientInfo`], isImplementation) &&
    isCapabilities(meta[CAPABILITIES]) &&
    optional(meta[`${PREFIX}/logLevel`], (level) => isText(level) && LEVELS.includes(level))
  );
}

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isImplementation(info: unknown): boolean {
  return (
    isRecord(info) &&
    typeof info.name === "string" &&
    typeof info.version === "string" &&
    ["title", "websiteUrl", "description"].every((name) => optional(info[name], isText)) &&
    optional(info.icons, (icons) => Array.isArray(icons) && icons.every(isIcon))
  );
}

function isIcon(icon: unknown): boolean {
  return (
    isRecord(icon) &&
    isText(icon.src) &&
    optional(icon.mimeType, isText) &&
    optional(icon.sizes, (sizes) => Array.isArray(sizes) && sizes.every(isText)) &&
    optional(icon.theme, (theme) => theme === "light" || theme === "dark")
  );
}

export function isCapabilities(given: unknown): boolean {
  return (
    isRecord(given) &&
    optional(given.experimental, isRecordOfRecords) &&
    optional(given.extensions, isRecordOfRecords) &&
    optional(given.sampling, (it) => isRecord(it) && optional(it.context, isRecord) && optional(it.tools, isRecord)) &&
    optional(given.elicitation, isElicitation) &&
    optional(given.roots, (it) => isRecord(it) && optional(it.listChanged, isFlag))
  );
}

const isElicitation = (it: unknown): boolean =>
  isRecord(it) &&
  optional(it.form, (form) => isRecord(form) && optional(form.applyDefaults, isFlag)) &&
  optional(it.url, isRecord);

export const optional = (value: unknown, check: (value: unknown) => boolean): boolean =>
  value === undefined || check(value);

const isText = (value: unknown): value is string => typeof value === "string";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isRecordOfRecords = (value: unknown): boolean => isRecord(value) && Object.values(value).every(isRecord);
