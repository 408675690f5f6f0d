/** The real agents, each with settings of its own that lead to a model of ours and nowhere else. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const REAL_AGENTS = ["claude-code", "codex", "gemini", "opencode"] as const;
export type RealAgent = (typeof REAL_AGENTS)[number];

export interface Desk {
  /** The folder that stands for the person's home. */
  readonly user: string;
  readonly project: string;
  /** Of the model. */
  readonly url: string;
  readonly program: string;
}

export interface Turn {
  readonly prompt: string;
  /** In the session that was last in this folder. */
  readonly goesOn?: boolean;
}

interface Handling {
  /** The npm package it comes in, as it was tried. */
  readonly comesIn: string;
  /** Where its program lies under `node_modules`. */
  program(modules: string): string | undefined;
  variables(desk: Desk): Record<string, string>;
  /** Settings of the person that have nothing to do with memory. */
  settings(desk: Desk): Record<string, string>;
  args(turn: Turn): string[];
}

/** opencode fetches a package for plugins at each start unless its folder looks as if it had been. */
const PACKAGES = { dependencies: { "@opencode-ai/plugin": "*" } };
const HAS_ITS_PACKAGES = {
  ".config/opencode/package.json": JSON.stringify(PACKAGES),
  ".config/opencode/package-lock.json": JSON.stringify({ packages: { "": PACKAGES } }),
  ".config/opencode/node_modules/.keep": "",
};

const TRUSTED = "--dangerously-bypass-hook-trust";

export const HANDLING: Readonly<Record<RealAgent, Handling>> = {
  "claude-code": {
    // Its platform package holds the program itself: 2.1.325.
    comesIn: "@anthropic-ai/claude-agent-sdk@0.3.325",
    program: (modules) => platformFile(join(modules, "@anthropic-ai"), "claude-agent-sdk-", "claude"),
    variables: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-test",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    settings: () => ({}),
    args: ({ prompt, goesOn }) => ["-p", prompt, ...(goesOn ? ["--continue"] : [])],
  },
  codex: {
    comesIn: "@openai/codex@0.166.0",
    program: (modules) => fileOf(join(modules, ".bin", "codex")),
    variables: () => ({ MOCK_KEY: "sk-test" }),
    settings: ({ url, project }) => ({
      ".codex/config.toml": [
        'model = "mock"',
        'model_provider = "mock"',
        "[model_providers.mock]",
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "MOCK_KEY"',
        `[projects."${project}"]`,
        'trust_level = "trusted"',
        "",
      ].join("\n"),
    }),
    args: ({ prompt, goesOn }) =>
      goesOn
        ? ["exec", TRUSTED, "--skip-git-repo-check", "resume", "--last", prompt]
        : ["exec", TRUSTED, "--skip-git-repo-check", prompt],
  },
  gemini: {
    comesIn: "@google/gemini-cli@0.61.0",
    program: (modules) => fileOf(join(modules, ".bin", "gemini")),
    variables: ({ url }) => ({
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: "test",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_SANDBOX: "false",
    }),
    settings: () => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
      }),
    }),
    // A model that is named is not chosen by asking another one.
    args: ({ prompt, goesOn }) => ["-m", "gemini-2.5-flash", ...(goesOn ? ["--resume", "latest"] : []), "-p", prompt],
  },
  opencode: {
    comesIn: "opencode-ai@1.18.33",
    program: (modules) => platformFile(modules, "opencode-linux-", "bin/opencode"),
    variables: ({ user }) => ({
      XDG_CONFIG_HOME: join(user, ".config"),
      XDG_DATA_HOME: join(user, ".local/share"),
      XDG_STATE_HOME: join(user, ".local/state"),
      XDG_CACHE_HOME: join(user, ".cache"),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    }),
    settings: ({ url }) => ({
      ...HAS_ITS_PACKAGES,
      ".config/opencode/opencode.json": JSON.stringify({
        model: "mock/mock",
        small_model: "mock/mock",
        share: "disabled",
        provider: {
          mock: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "test" },
            models: { mock: { name: "mock" } },
          },
        },
      }),
    }),
    args: ({ prompt, goesOn }) => ["run", ...(goesOn ? ["--continue"] : []), prompt],
  },
};

function fileOf(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}

/** Programs for one platform lie in a package named after it. */
function platformFile(folder: string, start: string, file: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const found = readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .sort();
  return found.map((name) => join(folder, name, file)).find(existsSync);
}

const CACHE = fileURLToPath(new URL("../../.cache/agents", import.meta.url));

/**
 * The folder with the programs: what BUTLER_TEST_AGENTS names, or, where it says "install", one of ours that the npm client
 * fills once. Scripts of the packages are not run; the programs do without.
 */
export async function agentsFolder(wanted: string): Promise<string> {
  if (wanted !== "install") return join(wanted, "node_modules");
  const packages = Object.values(HANDLING).map(({ comesIn }) => comesIn);
  const done = join(CACHE, "installed");
  if (!existsSync(done) || readFileSync(done, "utf8") !== packages.join("\n")) {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(join(CACHE, "package.json"), '{"private":true}\n');
    const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    const said = await run("npm", ["install", ...options, ...packages], CACHE, process.env);
    if (said.code !== 0) throw new Error(`The agents could not be installed: ${said.stderr}`);
    writeFileSync(done, packages.join("\n"));
  }
  return join(CACHE, "node_modules");
}

export function furnish(agent: RealAgent, desk: Desk): void {
  for (const [path, text] of Object.entries(HANDLING[agent].settings(desk))) {
    const file = join(desk.user, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Nothing of it leaves the machine: what is not on loopback goes to a proxy that is not there. */
const NOWHERE = "http://127.0.0.1:9";

export function runAgent(agent: RealAgent, desk: Desk, turn: Turn, more: Record<string, string>): Promise<Said> {
  const { args, variables } = HANDLING[agent];
  return run(desk.program, args(turn), desk.project, {
    HOME: desk.user,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    TERM: "dumb",
    NO_COLOR: "1",
    HTTPS_PROXY: NOWHERE,
    https_proxy: NOWHERE,
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
    ...variables(desk),
    ...more,
  });
}

function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Said> {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.once("error", failed);
    child.once("close", (code) => done({ code, stdout, stderr }));
  });
}
