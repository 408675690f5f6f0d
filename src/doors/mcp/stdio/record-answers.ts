/** Records the answers of known-answers.ts: the protocol's own library gives them once, at the build. */
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import type { ErrorCode } from "../../../engine/domain/errors.ts";
import type { Tool } from "../../../engine/tools/define.ts";
import type { Toolset } from "../advertise.ts";
import type { Era } from "./era.ts";
import type { Request } from "./json-rpc.ts";
import { BUTLER, CODE, type KnownAnswers, type KnownResults, MESSAGE } from "./known-answers.ts";
import { answerRequest } from "./owner-side.ts";

const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

const INTRODUCTION = { capabilities: {}, clientInfo: { name: "build", version: "1" } };
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

interface Recorder {
  readonly tools: readonly Tool[];
  readonly version: string;
}

export async function recordAnswers(recorder: Recorder): Promise<KnownAnswers> {
  const { version } = recorder;
  return { version, legacy: await legacyResults(recorder), modern: await modernResults(recorder) };
}

async function legacyResults(recorder: Recorder): Promise<KnownResults> {
  const greet = async (asked: string, hooks: boolean) =>
    resultOf(recorder, "opening", "initialize", { ...INTRODUCTION, protocolVersion: asked }, { hooks });
  const versionFor = async (asked: string) => String(JSON.parse(await greet(asked, false)).protocolVersion);
  const newest = await versionFor("none");
  // A version that it speaks is repeated; to any other the newest is offered.
  const known: string[] = [];
  for (const asked of SUPPORTED_PROTOCOL_VERSIONS) if ((await versionFor(asked)) === asked) known.push(asked);
  return {
    versions: [...new Set([newest, ...known])],
    greeting: { plain: await greet(newest, false), hooks: await greet(newest, true) },
    ...(await commonResults(recorder, "legacy", {})),
  };
}

async function modernResults(recorder: Recorder): Promise<KnownResults> {
  const envelope = { _meta: ENVELOPE };
  const greet = (hooks: boolean) => resultOf(recorder, "opening", "server/discover", envelope, { hooks });
  const plain = await greet(false);
  const { supportedVersions } = JSON.parse(plain) as { supportedVersions: string[] };
  return {
    versions: supportedVersions,
    greeting: { plain, hooks: await greet(true) },
    ...(await commonResults(recorder, "modern", envelope)),
  };
}

async function commonResults(
  recorder: Recorder,
  era: Era,
  envelope: Record<string, unknown>,
): Promise<Pick<KnownResults, "lists" | "failed">> {
  const list = async (toolset: Toolset) => {
    const made = LISTS.map(
      async (method) => [method, await resultOf(recorder, era, method, envelope, { toolset })] as const,
    );
    return Object.fromEntries(await Promise.all(made));
  };
  const [tool] = recorder.tools;
  const call = { ...envelope, name: tool?.name, arguments: {} };
  return {
    lists: { core: await list("core"), full: await list("full") },
    failed: await resultOf(recorder, era, "tools/call", call, {}),
  };
}

async function resultOf(
  { tools, version }: Recorder,
  era: Era,
  method: string,
  params: Record<string, unknown>,
  more: { readonly toolset?: Toolset; readonly hooks?: boolean },
): Promise<string> {
  const { toolset = "core", hooks = false } = more;
  const message: Request = { jsonrpc: "2.0", id: 1, method, params };
  const failure = { code: CODE as ErrorCode, message: MESSAGE };
  const options = {
    tools,
    toolset,
    hooks,
    version,
    butler: BUTLER,
    call: async () => ({ ok: false, error: failure }) as const,
  };
  const response = await answerRequest(options, { message, era }, () => undefined, new AbortController().signal);
  const { result } = JSON.parse(response ?? "{}") as { result?: unknown };
  if (result === undefined) throw new Error(`no answer to ${method} could be recorded: ${response}`);
  return JSON.stringify(result);
}
