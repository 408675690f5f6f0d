import { expect, it } from "vitest";
import { classifyName } from "../../src/engine/domain/redaction/secret-names.ts";

it.each([
  ["dbPassword", "password"],
  ["PASSWORD_HASH", "password"],
  ["pass", undefined],
  ["user_pass", "password"],
  ["PWD", undefined],
  ["sim-pin", "pin"],
  ["SECRET_KEY_BASE", "secret"],
  ["_auth", "weak_key"],
  ["npm_auth", "weak_key"],
  ["basic_auth", undefined],
  ["client-key-data", "weak_key"],
  ["FOO_TOKEN", "secret"],
  ["next_token", undefined],
  ["token_budget", undefined],
  ["key", undefined],
  ["x-api-key", "secret"],
  ["primary_key", undefined],
  ["fooKey", "weak_key"],
  ["mykennwort", "password"],
  ["accesstoken", "secret"],
  ["[redacted:github_token", undefined],
  ["constructor", undefined],
])("%s promises %s", (name, promised) => {
  expect(classifyName(name)).toBe(promised);
});
