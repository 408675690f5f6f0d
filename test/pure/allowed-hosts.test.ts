/** Which names may stand in `BUTLER_ALLOWED_HOSTS`, and which names the port answers to. */
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { MemoryError } from "../../src/engine/domain/errors.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { hostNames } from "../../src/main/owner/host-names.ts";

const listed = (text: string) => readEnvironment({ BUTLER_ALLOWED_HOSTS: text }).allowedHosts;

describe("BUTLER_ALLOWED_HOSTS", () => {
  test("is a list of names, separated by blanks or commas, in any case", () => {
    expect(listed("butler")).toEqual(["butler"]);
    expect(listed(" Memory.Example.org,butler ,\n my_service\t10.0.0.5 [FD00::7] ")).toEqual([
      "memory.example.org",
      "butler",
      "my_service",
      "10.0.0.5",
      "[fd00::7]",
    ]);
  });

  test.each(["", " ", ",", " , ,"])("%j lists nothing", (text) => {
    expect(listed(text)).toEqual([]);
    expect(readEnvironment({}).allowedHosts).toEqual([]);
  });

  test.each([
    "*",
    "*.example.org",
    "memory.*",
    ".example.org",
    "memory.example.org.",
    "memory..org",
    "evil.example:80",
    "[fd00::7]:80",
    "fd00::7",
    "[fd00::7",
    "[memory]",
    "[fd00:0::7]",
    "http://memory.example.org",
    "memory.example.org/",
    "user@memory.example.org",
    "memory;evil",
    '"memory.example.org"',
    "küche.example",
    "127.1",
    "4270",
    "1.2.3.4.5",
    "256.1.1.1",
  ])("%j is refused with a sentence that says what to do", (text) => {
    for (const entries of [text, `memory.example.org, ${text}`]) {
      const refused = () => listed(entries);
      expect(refused).toThrow(MemoryError);
      expect(refused).toThrow(`BUTLER_ALLOWED_HOSTS names "${text}"; each entry must be one whole host name`);
    }
  });
});

describe("the names that the port answers to", () => {
  const own = ["127.0.0.1:4270", "localhost:4270", "[::1]:4270"];
  const names = (host: string, ...allowedHosts: string[]) => hostNames({ host, allowedHosts }, 4270);

  test("are this machine's, the address that it is bound to, and those that are listed", () => {
    expect(names("127.0.0.1")).toEqual([...own, "127.0.0.1"]);
    expect(names("memory.lan", "butler", "memory.example.org")).toEqual([
      ...own,
      "memory.lan",
      "butler",
      "memory.example.org",
    ]);
  });

  test("have an address of IPv6 as a Host header has it", () => {
    expect(names("fd00::7")).toEqual([...own, "[fd00::7]"]);
    expect(names("::")).toContain("[::]");
  });

  test("are all addresses of this machine where it listens on all", () => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    for (const host of ["0.0.0.0", "::"])
      for (const { address, family } of addresses)
        expect(names(host, "butler")).toEqual(
          expect.arrayContaining([family === "IPv6" ? `[${address}]` : address, "butler"]),
        );
    expect(names("0.0.0.0")).not.toContain("butler");
  });
});
