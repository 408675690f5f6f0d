import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canSee, readableScopes, writableScope } from "../../src/domain/scope.ts";

const viewer = (butler: string, admin = false) => ({ tenant: "t", butler, admin });
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/).filter((s) => s !== "global");

describe("reading", () => {
  it("is global and one's own, and only an admin may say more", () => {
    expect(readableScopes(viewer("a"), undefined)).toEqual(["global", "a"]);
    expect(readableScopes(viewer("a"), "a")).toEqual(["global", "a"]);
    expect(readableScopes(viewer("a"), "global")).toEqual(["global"]);
    expect(readableScopes(viewer("a", true), undefined)).toEqual(["global", "a"]);
    expect(readableScopes(viewer("a", true), "b")).toEqual(["global", "b"]);
    expect(readableScopes(viewer("a", true), "*")).toBeUndefined();
    expect(() => readableScopes(viewer("a"), "*")).toThrow(/admin/);
    expect(() => readableScopes(viewer("a"), "b")).toThrow(/not yours/);
  });

  it("never opens another scope by its beginning", () => {
    fc.assert(
      fc.property(name, fc.stringMatching(/^[a-z0-9*%_]{1,4}$/), (butler, more) => {
        const longer = `${butler}${more}`;
        expect(canSee(viewer(butler), longer)).toBe(false);
        expect(canSee(viewer(longer), butler)).toBe(false);
        expect(readableScopes(viewer(butler), undefined)).not.toContain(longer);
        expect(() => readableScopes(viewer(butler), longer)).toThrow();
      }),
    );
  });

  it("what can be read by its scope can be seen by its id, and the other way round", () => {
    fc.assert(
      fc.property(name, name, fc.boolean(), (butler, scope, admin) => {
        const listed = readableScopes(viewer(butler, admin), admin ? "*" : undefined);
        expect(canSee(viewer(butler, admin), scope)).toBe(listed === undefined || listed.includes(scope));
      }),
    );
  });
});

describe("writing", () => {
  it("is global unless told, one's own if told, and never every scope", () => {
    expect(writableScope(viewer("a"), undefined)).toBe("global");
    expect(writableScope(viewer("a"), "a")).toBe("a");
    expect(writableScope(viewer("a", true), "b")).toBe("b");
    expect(() => writableScope(viewer("a"), "b")).toThrow(/not yours/);
    expect(() => writableScope(viewer("a", true), "*")).toThrow(/one scope/);
  });
});
