import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/engine/memory/memory.ts";
import { safeIds } from "../../src/engine/tools/safe-ids.ts";

const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const memoryWith = (redact: boolean) => ({ settings: { privacy: { redact } } }) as Memory;

describe("names of sessions", () => {
  it("are looked at for secrets whether they came before or not", () => {
    const { name, input } = safeIds(memoryWith(true));
    for (let time = 0; time < 3; time++) {
      expect(name("load-7")).toBe("load-7");
      expect(name(undefined)).toBeUndefined();
      const replaced = name(`s-${SECRET}`);
      expect(replaced).toMatch(/^redacted-/);
      expect(input({ session_id: `s-${SECRET}` }).session_id).toBe(replaced);
    }
  });

  it("are kept as they are by a memory that redacts nothing, also if another has replaced them", () => {
    expect(safeIds(memoryWith(true)).name(SECRET)).not.toBe(SECRET);
    expect(safeIds(memoryWith(false)).name(SECRET)).toBe(SECRET);
  });
});
