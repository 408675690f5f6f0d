/** What is wrong in a butler.toml, word for word: a person corrects the file by these sentences alone. */
import { describe, expect, test } from "vitest";
import { parseButlerToml } from "../../src/daemon/config/config.ts";

const FILE = "roster/x/butler.toml";
const HEAD = '[butler]\nname = "x"\n';
const MEMORY_KEYS =
  "enabled, service, service_token_env, service_token_file, embedding_model, embedding_dimensions, embedding_variant, episodes, facts, rules, retrieval, eden, mid, long, extractor, hooks, privacy, events, jobs";
const BUTLER_KEYS = "name, role, tenant, description, schedule, runtime";
const UNKNOWN = "found a key that is not known here, expected one of";

function faults(text: string): string[] {
  try {
    parseButlerToml(text, FILE);
  } catch (error) {
    return (error as Error).message.split("\n").map((line) => line.replace(FILE, ""));
  }
  return [];
}

describe("values", () => {
  test.each([
    ["[butler]", ":1: butler.name: found nothing, expected a string."],
    ["[modules.memory]\nenabled = true", ": butler: found nothing, expected a table."],
    [
      '[butler]\nname = "X Y"',
      ':2: butler.name: found "X Y", expected a small letter, then at most 31 small letters, digits, _ or -.',
    ],
    [`${HEAD}role = "cook"`, ':3: butler.role: found "cook", expected one of "butler", "memory".'],
    [`${HEAD}tenant = ""`, ':3: butler.tenant: found "", expected some text.'],
    [
      `${HEAD}tenant = "north\\u200b"`,
      ':3: butler.tenant: found "north\u200b", expected a tenant\'s name in composed characters, all of which can be seen.',
    ],
    [
      `${HEAD}[butler.modules.memory]`,
      `:3: butler.modules: ${UNKNOWN} ${BUTLER_KEYS}; did you mean [modules], which stands by itself?`,
    ],
    [`modules = 1\n${HEAD}`, ":1: modules: found 1, expected a table."],
    [`${HEAD}[modules.memory]\nenabled = "yes"`, ':4: modules.memory.enabled: found "yes", expected true or false.'],
    [
      `${HEAD}[modules.memory]\nembedding_dimensions = 768`,
      ":4: modules.memory.embedding_dimensions: found 768, expected 384.",
    ],
    [
      `${HEAD}[modules.memory.episodes]\ndefault_ttl_days = "seven"`,
      ':4: modules.memory.episodes.default_ttl_days: found "seven", expected a number.',
    ],
    [
      `${HEAD}[modules.memory.episodes]\n\n# none\nmax_entries = 0`,
      ":6: modules.memory.episodes.max_entries: found 0, expected more than 0.",
    ],
    [
      `${HEAD}[modules.memory]\nmid = { ttl_days = 3,\n  max_entries = 1.5 }`,
      ":5: modules.memory.mid.max_entries: found 1.5, expected a whole number.",
    ],
    [
      `${HEAD}[modules.memory.retrieval]\ndefault_limit = 1000`,
      ":4: modules.memory.retrieval.default_limit: found 1000, expected at most 200.",
    ],
    [
      `${HEAD}[modules.memory.retrieval]\ncontext_token_budget = nan`,
      ":4: modules.memory.retrieval.context_token_budget: found NaN, expected a number.",
    ],
    [
      `${HEAD}[modules.memory.retrieval]\nscore_weights = { relevance = 0.9 }`,
      ':4: modules.memory.retrieval.score_weights: found {"relevance":0.9}, expected weights that add up to 1, those you leave out at their defaults.',
    ],
    [
      `${HEAD}[modules.memory.retrieval.quotas]\nprofile = 1`,
      ':3: modules.memory.retrieval.quotas: found {"profile":1}, expected shares that add up to at most 1, those you leave out at their defaults.',
    ],
    [
      `${HEAD}[modules.memory.facts]\nexpiry_confidence_threshold = 0.5`,
      ':3: modules.memory.facts: found {"expiry_confidence_threshold":0.5}, expected an expiry_confidence_threshold that is not above retrieval_confidence_threshold.',
    ],
    [
      `${HEAD}[butler.schedule]\ndecay_sweep = { cron = "daily" }`,
      ':4: butler.schedule.decay_sweep.cron: found "daily", expected a cron line of five fields, such as "0 3 * * *".',
    ],
    [
      `${HEAD}[butler.schedule]\ndecay_sweep = { prompt = "p" }`,
      ":4: butler.schedule.decay_sweep.cron: found nothing, expected a string.",
    ],
    [`${HEAD}[butler.runtime]\nargs = "-p"`, ':4: butler.runtime.args: found "-p", expected a list.'],
    [`${HEAD}[butler.runtime]\nargs = [\n  "-p",\n  7\n]`, ":6: butler.runtime.args.1: found 7, expected a string."],
    [
      `${HEAD}[butler.runtime]\nargs = ["-p", "{promt}"]`,
      ':4: butler.runtime.args.1: found the placeholder {promt}, expected one of {prompt}, {system}, {mcp_config}, {session}; did you mean "{prompt}"?',
    ],
    [
      `${HEAD}[butler.runtime]\nargs = ["--in={folder}"]`,
      ":4: butler.runtime.args.0: found the placeholder {folder}, expected one of {prompt}, {system}, {mcp_config}, {session}.",
    ],
    [
      `${HEAD}[butler.runtime]\ntimeout_seconds = 0`,
      ":4: butler.runtime.timeout_seconds: found 0, expected more than 0.",
    ],
    [`${HEAD}[butler.runtime]\ncommand = ""`, ':4: butler.runtime.command: found "", expected some text.'],
    [
      `${HEAD}[butler.runtime.env]\n"a b" = "c"`,
      ':4: butler.runtime.env.a b: found "a b" as a name, expected the name of an environment variable.',
    ],
    ['[butler]\nname = "x', ":2:8: this is not TOML: unfinished string."],
    [`${HEAD}[butler]`, ":3:2: this is not TOML: trying to redefine an already defined table or value."],
  ])("%j", (text, words) => {
    expect(faults(text)).toEqual([words]);
  });

  test("a long value is cut", () => {
    const [only] = faults(`${HEAD}role = "${"cook ".repeat(100)}"`);
    expect(only).toMatch(/^:3: butler\.role: found "(cook ?)+…, expected one of "butler", "memory"\.$/);
    expect(only?.length).toBeLessThan(250);
  });
});

describe("a shared Memory Butler", () => {
  const service = (address: string) => faults(`${HEAD}[modules.memory]\nservice = "${address}"`);
  const example = 'an http or https address such as "http://127.0.0.1:4270/butlers/memory/mcp"';
  test.each([
    ["memory", example],
    ["ftp://h/butlers/memory", example],
    ["http://h:4270", "an address that ends in /butlers/<name> or /mcp"],
    ["http://h:4270/butlers/", "an address that ends in /butlers/<name> or /mcp"],
    ["http://h/butlers/memory?a=1", "an address without ? and #"],
  ])("%s", (address, expected) => {
    expect(service(address)).toEqual([`:4: modules.memory.service: found "${address}", expected ${expected}.`]);
  });

  test("has no other one behind it", () => {
    expect(faults(`${HEAD}role = "memory"\n[modules.memory]\nservice = "http://h/butlers/memory"`)).toEqual([
      ':5: modules.memory.service: found "http://h/butlers/memory", expected none: a butler with role = "memory" is the service.',
    ]);
  });
});

describe("secrets are not repeated", () => {
  test.each([
    [
      `${HEAD}[modules.memory]\nservice = "http://bob:hunter2@h/butlers/memory"`,
      ':4: modules.memory.service: found "http://***@h/butlers/memory", expected an address without user and password: the token is read from service_token_file or service_token_env.',
    ],
    [
      `${HEAD}[modules.memory]\nservice_token_env = "hunter2 is it"`,
      ':4: modules.memory.service_token_env: found "***", expected the name of an environment variable, not its value.',
    ],
    [
      `${HEAD}[modules.memory.extractor]\napi_key_env = "hunter2-hunter2"`,
      ':4: modules.memory.extractor.api_key_env: found "***", expected the name of an environment variable, not its value.',
    ],
    [
      `${HEAD}[butler.runtime]\nenv = { DB_PASSWORD = ["hunter2"] }`,
      ':4: butler.runtime.env.DB_PASSWORD: found "***", expected a string.',
    ],
    [
      `${HEAD}[modules.memory]\nepisodes = [{ api_key = "hunter2" }]`,
      ':4: modules.memory.episodes: found [{"api_key":"***"}], expected a table.',
    ],
    [`${HEAD}password = "hunter2"`, `:3: butler.password: ${UNKNOWN} ${BUTLER_KEYS}.`],
    [`${HEAD}password = hunter2`, ":3:12: this is not TOML: invalid value."],
  ])("%j", (text, words) => {
    expect(faults(text)).toEqual([words]);
    expect(words).not.toContain("hunter2");
  });
});

describe("unknown keys", () => {
  test.each([
    [`${HEAD}nmae = "x"`, `:3: butler.nmae: ${UNKNOWN} ${BUTLER_KEYS}; did you mean "name"?`],
    [`${HEAD}[modules.memroy]`, `:3: modules.memroy: ${UNKNOWN} memory; did you mean "memory"?`],
    [`${HEAD}[module.memory]`, `:3: module: ${UNKNOWN} butler, modules; did you mean "modules"?`],
    [`${HEAD}[memory]`, `:3: memory: ${UNKNOWN} butler, modules; it belongs under [modules].`],
    [
      `${HEAD}[modules.memory.episodes]\ndefault-ttl-days = 7`,
      `:4: modules.memory.episodes.default-ttl-days: ${UNKNOWN} default_ttl_days, max_entries, unlearned_grace_days; did you mean "default_ttl_days"?`,
    ],
    [
      `${HEAD}[modules.memory]\ndefault_ttl_days = 7`,
      `:4: modules.memory.default_ttl_days: ${UNKNOWN} ${MEMORY_KEYS}; it belongs under [modules.memory.episodes].`,
    ],
    [
      `${HEAD}[modules.memory]\ndefault_ttl_dais = 7`,
      `:4: modules.memory.default_ttl_dais: ${UNKNOWN} ${MEMORY_KEYS}; did you mean "default_ttl_days" under [modules.memory.episodes]?`,
    ],
    [
      `${HEAD}[modules.memory]\nttl_days = 7`,
      `:4: modules.memory.ttl_days: ${UNKNOWN} ${MEMORY_KEYS}; it belongs under [modules.memory.mid] or [modules.memory.long].`,
    ],
    [
      `${HEAD}[modules.memory]\nmax_entries = 7`,
      `:4: modules.memory.max_entries: ${UNKNOWN} ${MEMORY_KEYS}; it belongs under [modules.memory.episodes], [modules.memory.eden], [modules.memory.mid] or [modules.memory.long].`,
    ],
    [
      `${HEAD}[butler.schedule]\ndecay_sweep = { cron = "0 3 * * *", at = 1 }`,
      `:4: butler.schedule.decay_sweep.at: ${UNKNOWN} cron, prompt, enabled.`,
    ],
    [
      `${HEAD}[butler.schedule]\ndecay-sweep = { cron = "0 3 * * *" }`,
      `:4: butler.schedule.decay-sweep: ${UNKNOWN} consolidate, promote, decay_sweep, episode_cleanup, reembed, hygiene, retention, rekey, partitions; did you mean "decay_sweep"?`,
    ],
    [`${HEAD}xyzzy = 1`, `:3: butler.xyzzy: ${UNKNOWN} ${BUTLER_KEYS}.`],
  ])("%j", (text, words) => {
    expect(faults(text)).toEqual([words]);
  });

  test("of the draft, with memory under [butler], are pointed to their place", () => {
    const text = `${HEAD}
[butler.memory]
enabled = true

[butler.memory.eden]
ttl_hours = 24

[butler.memory.mid]
ttl_days = 30`;
    expect(faults(text)).toEqual([
      ":4: butler.memory: found an older spelling, expected [modules.memory].",
      ":7: butler.memory.eden: found an older spelling, expected [modules.memory.eden].",
      ":10: butler.memory.mid: found an older spelling, expected [modules.memory.mid].",
    ]);
    expect(faults(`${HEAD}[butler.memory.long]\nttl_days = 365`)).toEqual([
      ":3: butler.memory.long: found an older spelling, expected [modules.memory.long].",
    ]);
  });
});

test("all faults of a file are told at once, in the order of its lines", () => {
  const text = `[modules.memory]
enabled = "yes"
service = "http://h/butlers/memory"
[modules.memory.episodes]
max_entrys = 1
[butler]
role = "memory"
colour = 1`;
  expect(faults(text).map((line) => line.split(": ")[1])).toEqual([
    "modules.memory.enabled",
    "modules.memory.service",
    "modules.memory.episodes.max_entrys",
    "butler.name",
    "butler.colour",
  ]);
});
