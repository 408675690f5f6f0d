import { expect, test } from "vitest";
import { explainPostgres, isMissingDatabase } from "../../src/engine/adapters/db/postgres-errors.ts";
import { parseTarget } from "../../src/engine/adapters/db/postgres-target.ts";
import { MemoryError } from "../../src/engine/domain/errors.ts";

const target = parseTarget("postgres://ada:secret@db.example:5433/tea");
const withCode = (code: string | undefined, message = "words of the driver") =>
  Object.assign(new Error(message), code === undefined ? {} : { code });
const said = (error: unknown, when: "connecting" | "connected") => {
  const explained = explainPostgres(error, target, when);
  expect(explained).toBeInstanceOf(MemoryError);
  expect(explained).toMatchObject({ code: "unavailable", cause: error });
  return explained instanceof Error ? explained.message : "";
};

test.each([
  ["53300", "has no connection left"],
  ["57P03", "is starting or stopping"],
  ["ECONNREFUSED", "No PostgreSQL answers at db.example:5433"],
  ["ENOTFOUND", "cannot be resolved"],
  ["28P01", 'refused the user "ada"'],
  ["42501", 'grant connect on database "tea" to "ada";'],
  ["3D000", 'has no database "tea"'],
  ["42602", "is older than 0.8"],
  ["ETIMEDOUT", "gave no connection within 20 s"],
  ["XX000", "cannot be used (words of the driver)"],
])("while connecting, %s is told as: %s", (code, words) => {
  expect(said(withCode(code), "connecting")).toContain(words);
});

test.each(["57P01", "57P03", "08006", "25P03", "ECONNRESET", "EPIPE"])(
  "a connection that ends with %s is lost",
  (code) => {
    expect(said(withCode(code), "connected")).toMatch(/was lost|is starting or stopping/);
  },
);

test("errors that the driver makes itself have no code", () => {
  expect(said(withCode(undefined, "SASL: no password"), "connecting")).toContain("refused the user");
  expect(said(withCode(undefined, "timeout exceeded when trying to connect"), "connecting")).toContain("within 20 s");
  expect(said(withCode(undefined, "Connection terminated unexpectedly"), "connected")).toContain("was lost");
});

test("the fault of a statement, and an error of ours, come back as they were", () => {
  for (const error of [withCode("23505"), withCode("3D000"), withCode("42501"), new MemoryError("conflict", "no")])
    expect(explainPostgres(error, target, "connected")).toBe(error);
});

test("a missing database is known by its code", () => {
  expect(isMissingDatabase(explainPostgres(withCode("3D000"), target, "connecting"))).toBe(true);
  const other = withCode("28P01", 'PostgreSQL has no database "tea"');
  expect(isMissingDatabase(explainPostgres(other, target, "connecting"))).toBe(false);
  expect(isMissingDatabase(withCode("3D000"))).toBe(false);
});
