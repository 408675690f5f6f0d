import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { prepareInstall } from "../../src/hosts/install/install.ts";
import { makeWorld, type World } from "../pure/install-world.ts";

interface Part {
  readonly id?: string;
  readonly type: string;
  readonly text: string;
  readonly ignored?: boolean;
}

interface Hooks {
  event(input: unknown): Promise<void>;
  "chat.message"(input: unknown, output: { message: { id: string }; parts: Part[] }): Promise<void>;
  "experimental.chat.messages.transform"(input: unknown, output: { messages: { parts: Part[] }[] }): Promise<void>;
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
    session: {
      messages: async () => ({ data: messages }),
      get: async ({ path }: { path: { id: string } }) => ({
        data: path.id === "early-child" ? { parentID: "parent" } : {},
      }),
    },
    tui: { showToast: async ({ body }: { body: { message: string } }) => toasts.push(body.message) },
  };
  return ButlerMemory({ client, directory: "/p" });
}

const created = (id: string, parentID?: string) => ({
  event: { type: "session.created", properties: { info: { id, parentID } } },
});
const idle = (sessionID: string) => ({ event: { type: "session.idle", properties: { sessionID } } });

const TELLS = (file: string) =>
  `printf '%s ' "$1 $2" >> '${file}'; cat >> '${file}'; echo >> '${file}'; echo '{"context":"about '"$2"'."}'`;
const lines = () => (world.snapshot().told ?? "").replace(/^644 /, "").trim().split("\n");
const said = (text: string): Part => ({ id: "prt_1", type: "text", text });

async function prompt(hooks: Hooks, sessionID: string, id: string): Promise<Part[]> {
  const parts = [said("why red")];
  await hooks["chat.message"]({ sessionID }, { message: { id }, parts });
  return parts.slice(1);
}

test("brings context with the first message and with each prompt, and tells what came of it", async () => {
  const hooks = await plugin(TELLS(told));
  await hooks.event(created("s1"));
  const own = { type: "text", synthetic: true, sessionID: "s1", metadata: { butler_memory: true } };
  expect(await prompt(hooks, "s1", "m1")).toEqual([
    { ...own, id: "prt_1zz", messageID: "m1", text: "about session.created.about chat.message.", ignored: true },
  ]);
  expect(await prompt(hooks, "s1", "m2")).toMatchObject([{ messageID: "m2", text: "about chat.message." }]);
  await hooks.event(idle("s1"));
  expect(lines()).toEqual([
    'opencode session.created {"session_id":"s1","cwd":"/p","source":"startup"}',
    'opencode chat.message {"session_id":"s1","cwd":"/p","prompt":"why red"}',
    'opencode chat.message {"session_id":"s1","cwd":"/p","prompt":"why red"}',
    'opencode session.idle {"session_id":"s1","cwd":"/p","prompt":"why red","reply":"a wrong date"}',
  ]);
});

test("a first message waits for the start, whoever comes first, and there is one start", async () => {
  const hooks = await plugin(`[ "$2" != session.created ] || sleep 0.1; ${TELLS(told)}`);
  const starting = hooks.event(created("s1"));
  expect(await prompt(hooks, "s1", "m1")).toMatchObject([{ text: "about session.created.about chat.message." }]);
  await starting;
  expect(await prompt(hooks, "s2", "m2")).toMatchObject([{ text: "about session.created.about chat.message." }]);
  await hooks.event(created("s2"));
  const events = lines().map((line) => line.split(" ")[1]);
  expect(events).toEqual(["session.created", "chat.message", "session.created", "chat.message"]);
});

test("a session of an earlier process is no new one; after a compaction it is told anew", async () => {
  const hooks = await plugin(TELLS(told));
  await prompt(hooks, "old", "m1");
  await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "old" } } });
  expect(await prompt(hooks, "old", "m2")).toMatchObject([{ text: "about session.created.about chat.message." }]);
  const sources = lines().flatMap((line) => /"source":"(\w+)"/.exec(line)?.[1] ?? []);
  expect(sources).toEqual(["resume", "compact"]);
});

test("only requests of the conversation have it, each message what it was told", async () => {
  const hooks = await plugin(TELLS(told));
  const [first] = [await prompt(hooks, "s1", "m1")];
  const stored = { info: { id: "m1" }, parts: [said("why red"), ...first] };
  const messages = [stored, { info: { id: "m2" }, parts: [said("a wrong date")] }];
  await hooks["experimental.chat.messages.transform"]({}, { messages });
  expect(messages[0]?.parts.map(({ ignored }) => ignored)).toEqual([undefined, false]);
  expect(messages[1]?.parts).toEqual([said("a wrong date")]);
  // A request for a title is made from what is stored.
  expect(stored.parts[1]?.ignored).toBe(true);
  expect(hooks).not.toHaveProperty(["experimental.chat.system.transform"]);
});

test("sub-agents are left alone, also when their first message comes before word of them", async () => {
  const hooks = await plugin(`echo x >> '${told}'; echo '{"context":"c"}'`);
  await hooks.event(created("child", "parent"));
  await hooks.event(idle("child"));
  expect(await prompt(hooks, "child", "m1")).toEqual([]);
  expect(await prompt(hooks, "early-child", "m2")).toEqual([]);
  expect(world.snapshot().told).toBeUndefined();
});

test.each([
  ["fails", "exit 3"],
  ["says nonsense", "echo hello"],
  ["does not read", "exec <&-; exit 0"],
  ["hangs", "exec sleep 30"],
])("a hook that %s changes nothing", async (_, hook) => {
  const hooks = await plugin(hook);
  const parts: Part[] = [];
  await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts });
  await hooks.event({ event: { type: "odd" } });
  expect(parts).toEqual([]);
});

test("a start that is late costs its time once", async () => {
  const hooks = await plugin(`echo "$2" >> '${told}'; exec sleep 30`);
  expect(await prompt(hooks, "s", "m")).toEqual([]);
  expect(lines()).toEqual(["session.created"]);
});

test("what the person should know is shown beside the conversation", async () => {
  const hooks = await plugin(`[ "$2" != session.created ] || echo '{"message":"Memory is out of reach."}'`);
  const parts: Part[] = [];
  await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts });
  expect([parts, toasts]).toEqual([[], ["Memory is out of reach."]]);
});
