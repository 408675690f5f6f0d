/** The container files in ops/ fit the program that they start: names, folders, variables and memory. They are read as text, without a library for YAML. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { homeAt, prepareHome } from "../../src/daemon/home.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { hostNames } from "../../src/main/owner/host-names.ts";

const textOf = (file: string) => readFileSync(join("ops", file), "utf8");
const kubernetes = textOf("kubernetes.yaml");
const compose = textOf("compose.yaml");
const image = textOf("Dockerfile");

/** What the expression finds in the text, once. */
function one(text: string, expression: RegExp): string {
  const found = [...text.matchAll(new RegExp(expression, "gm"))].map(([, value = ""]) => value);
  if (found.length !== 1) throw new Error(`${expression} was found ${found.length} times`);
  return found[0] ?? "";
}

const NAMESPACE = "apps";

/** `- { name: A, value: b }`, or on two lines, with the namespace filled in as the cluster does it. */
const podVariables = Object.fromEntries(
  [...kubernetes.matchAll(/- \{? ?name: ([A-Z_]+)(?:,\s|\n\s+)value: ([^}\n]+)/g)].map(([, name = "", value = ""]) => [
    name,
    value.trim().replaceAll("$(NAMESPACE)", NAMESPACE),
  ]),
);
const composeVariables = Object.fromEntries(
  [...compose.matchAll(/^ {6}(BUTLER_[A-Z_]+): (.+)$/gm)].map(([, name = "", value = ""]) => [name, value]),
);

const hostsOf = (variables: Record<string, string>) => hostNames(readEnvironment(variables), 4270);

describe("ops/kubernetes.yaml", () => {
  const mount = one(kubernetes.split("\n      containers:")[1] ?? "", /\{ name: home, mountPath: (\S+) \}/);

  test("has its home in the volume, where the daemon makes it, and not at its root, which belongs to root", () => {
    expect(dirname(podVariables.BUTLER_HOME ?? "")).toBe(mount);
    expect(readEnvironment(podVariables).home).toBe(podVariables.BUTLER_HOME);
    // Otherwise the modes of everything in it are changed whenever a pod starts.
    expect(kubernetes).toContain("fsGroupChangePolicy: OnRootMismatch");
    expect(one(kubernetes, /runAsUser: (\d+)/)).toBe(one(kubernetes, /fsGroup: (\d+)/));
    expect(one(kubernetes, /runAsUser: (\d+)/)).toBe(one(image, /--uid (\d+)/));
  });

  test("copies what all daemons share into that home, to names that a home has", () => {
    const { root, daemonFile, tokensFile } = homeAt(podVariables.BUTLER_HOME ?? "");
    const files = one(kubernetes, /for file in ([^;]+);/).split(" ");
    expect(files.map((file) => join(root, file)).toSorted()).toEqual([daemonFile, tokensFile].toSorted());
    expect(kubernetes).toContain(`"${root}/$file"`);
  });

  test("answers under the names of its Service, and under no others", () => {
    const service = one(kubernetes, /^kind: Service\nmetadata: \{ name: (\S+) \}/);
    const names = ["", `.${NAMESPACE}`, `.${NAMESPACE}.svc`, `.${NAMESPACE}.svc.cluster.local`];
    expect(readEnvironment(podVariables).allowedHosts).toEqual(names.map((rest) => service + rest));
    expect(readEnvironment(podVariables).host).toBe("0.0.0.0");
  });

  test("keeps the cluster from setting the variables of the program by the name of the Service", () => {
    expect(() => readEnvironment({ BUTLER_PORT: "tcp://10.96.0.7:4270" })).toThrow("BUTLER_PORT");
    expect(kubernetes).toContain("enableServiceLinks: false");
    expect(readEnvironment(podVariables).port).toBe(Number(one(kubernetes, /containerPort: (\d+)/)));
  });

  test("asks for as much memory as a daemon may take", () => {
    const row = one(textOf("SERVER.md"), /^\| memory of a daemon \| (.+) \|$/);
    const [, model, each, memories] = /to (\d+) MB .* (\d+) KB for each .* ([\d,]+) memories/.exec(row) ?? [];
    const most = Number(model) * 1e6 + Number(each) * 1e3 * Number(memories?.replace(",", ""));
    const daemon = one(kubernetes, /requests: (\{ cpu: "1".*)$/);
    expect(Number(one(daemon, /memory: (\d+)Mi/)) * 2 ** 20).toBeGreaterThan(most);
    expect(Number(one(daemon, /memory: (\d+)Gi/)) * 2 ** 30).toBeGreaterThan(most * 1.25);
  });
});

describe("ops/compose.yaml and ops/Dockerfile", () => {
  test("set variables that are read, and the home that the image has made for its user", () => {
    expect(readEnvironment(composeVariables)).toMatchObject({ home: "/var/lib/butler", host: "0.0.0.0", port: 4270 });
    const { BUTLER_HOME = "" } = composeVariables;
    expect(image).toContain(`install -d -m 0700 -o butler ${BUTLER_HOME}\n`);
    expect(compose).toContain(`"butler:${BUTLER_HOME}"`);
    expect(one(image, /^EXPOSE (\d+)$/)).toBe("4270");
  });

  test("answer to the other services of the network, and to this machine on any port", () => {
    const service = one(compose, /^ {2}(\w+):\n {4}build:/);
    expect(hostsOf(composeVariables)).toEqual(expect.arrayContaining([service, "localhost", "127.0.0.1"]));
  });

  test("the image has the name under which the cluster asks for it", () => {
    const names = [...kubernetes.matchAll(/image: (\S+)/g)].map(([, name]) => name);
    expect(new Set(names)).toEqual(new Set([one(image, /docker build -f ops\/Dockerfile -t (\S+) \./)]));
  });
});

describe("a volume as a cluster gives it", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });
  /** Open to its group, which all that is made in it gets too. */
  function volume() {
    const folder = mkdtempSync(join(tmpdir(), "volume-"));
    folders.push(folder);
    chmodSync(folder, 0o2775);
    return folder;
  }
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

  test.skipIf(process.platform === "win32")("holds a home that nobody else can enter, whatever the umask", () => {
    const home = homeAt(join(volume(), "home"));
    const umask = process.umask(0);
    try {
      prepareHome(home);
      prepareHome(home);
    } finally {
      process.umask(umask);
    }
    for (const path of [home.root, home.run, home.models, home.spool, home.logs]) expect(modeOf(path)).toBe("700");
  });

  test.skipIf(process.getuid?.() !== 0)("is no home itself, because it belongs to another user (needs root)", () => {
    const folder = volume();
    chownSync(folder, 10_001, 10_001);
    expect(() => prepareHome(homeAt(folder))).toThrow("belongs to another user");
    prepareHome(homeAt(join(folder, "home")));
    mkdirSync(join(folder, "lost+found"));
    prepareHome(homeAt(join(folder, "home")));
  });
});
