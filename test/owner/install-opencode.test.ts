import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { prepareInstall } from "../../src/butler/install/install.ts";
import { makeWorld, type World } from "../pure/install-world.ts";

interface Hooks {
  event(input: unknown): Promise<void>;
  "chat.message"(input: unknown, output: { message: { id: string }; parts: object[] }): Promise<void>;
  "experimental.chat.system.transform"(input: unknown, output: { system: string[] }): Promise<void>;
}

let world: World;
let told: string;
const toasts: string[] = [];
beforeEach(() => {
  world = makeWorld();
  told = join(world.root, "told");
  toasts.length = 0;
});
afterEach(() => world.end());

const messages = [
  { info: { role: "user" }, parts: [{ type: "text", text: "old" }] },
  {
    info: { role: "user" },
    parts: [
      { type: "text", text: "why red" },
      { type: "text", text: "ours", synthetic: true },
    ],
  },
  { info: { role: "assistant" }, parts: [{ type: "tool" }, { type: "text", text: "a wrong date" }] },
];

/** The plugin as it is installed, with a script of the test in place of the hook. */
async function plugin(hook: string): Promise<Hooks> {
  const { writes } = prepareInstall(world.order("opencode", "user"), new Date(0), false);
  const script = writes.find(({ path }) => path.endsWith("hook.sh"))!;
  const source = writes.find(({ path }) => path.endsWith("butler-memory.js"))!;
  world.write(script.path, hook);
  const file = world.write(source.path.replace(/js$/, "mjs"), source.after!);
  const { ButlerMemory } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    ButlerMemory(input: unknown): Promise<Hooks>;
  };
  const client = {
    session: { messages: async () => ({ data: messages }) },
    tui: { showToast: async ({ body }: { body: { message: string } }) => toasts.push(body.message) },
  };
  return ButlerMemory({ client, directory: "/p" });
}

const created = (id: string, parentID?: string) => ({
  event: { type: "session.created", properties: { info: { id, parentID } } },
});
const idle = (sessionID: string) => ({ event: { type: "session.idle", properties: { sessionID } } });

test("brings context at the start and with a prompt, and tells what came of it", async () => {
  const hooks = await plugin(
    `printf '%s ' "$1 $2" >> '${told}'; cat >> '${told}'; echo >> '${told}'; echo '{"context":"about '"$2"'"}'`,
  );
  await hooks.event(created("s1"));
  const system: string[] = ["base"];
  await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, { system });
  await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, { system });
  expect(system).toEqual(["base", "about session.created", "about session.created"]);
  const parts: object[] = [{ type: "text", text: "why red" }];
  await hooks["chat.message"]({ sessionID: "s1" }, { message: { id: "m1" }, parts });
  expect(parts.slice(1)).toEqual([
    {
      id: expect.stringMatching(/^prt_/),
      sessionID: "s1",
      messageID: "m1",
      type: "text",
      text: "about chat.message",
      synthetic: true,
    },
  ]);
  await hooks.event(idle("s1"));
  const lines = (world.snapshot().told ?? "").replace(/^644 /, "").trim().split("\n");
  expect(lines).toEqual([
    'opencode session.created {"session_id":"s1","cwd":"/p","source":"startup"}',
    'opencode chat.message {"session_id":"s1","cwd":"/p","prompt":"why red"}',
    'opencode session.idle {"session_id":"s1","cwd":"/p","prompt":"why red","reply":"a wrong date"}',
  ]);
});

test("sub-agents are left alone", async () => {
  const hooks = await plugin(`echo x >> '${told}'; echo '{"context":"c"}'`);
  await hooks.event(created("child", "parent"));
  await hooks.event(idle("child"));
  const system: string[] = [];
  await hooks["experimental.chat.system.transform"]({ sessionID: "child" }, { system });
  expect(system).toEqual([]);
  expect(world.snapshot().told).toBeUndefined();
});

test.each([
  ["fails", "exit 3"],
  ["says nonsense", "echo hello"],
  ["does not read", "exec <&-; exit 0"],
  ["hangs", "exec sleep 30"],
])("a hook that %s changes nothing", async (_, hook) => {
  const hooks = await plugin(hook);
  const parts: object[] = [];
  await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts });
  await hooks.event({ event: { type: "odd" } });
  expect(parts).toEqual([]);
});

test("what the person should know is shown beside the conversation", async () => {
  const hooks = await plugin(`echo '{"message":"Memory is out of reach."}'`);
  const parts: object[] = [];
  await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts });
  expect([parts, toasts]).toEqual([[], ["Memory is out of reach."]]);
});
