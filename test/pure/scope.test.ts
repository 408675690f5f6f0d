import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAboutPerson, isPerson } from "../../src/engine/domain/learning/person.ts";
import {
  butlerOf,
  canSee,
  GLOBAL_SCOPE,
  isButlerName,
  ladderOf,
  learnedScope,
  projectScope,
  readableScopes,
  writableScope,
} from "../../src/engine/domain/scope.ts";

const viewer = (butler: string, admin = false) => ({ tenant: "t", butler, admin });
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/).filter(isButlerName);
const project = fc.stringMatching(/^[!-~]{1,20}$/);
/** The step of a session with or without a project. */
const step = fc.oneof(
  name,
  fc.tuple(name, project).map(([butler, key]) => projectScope(butler, key)),
);

describe("reading", () => {
  it("is every step from global down to one's own, and only an admin may say more", () => {
    expect(readableScopes(viewer("a"), undefined)).toEqual(["global", "a"]);
    expect(readableScopes(viewer("a/p"), undefined)).toEqual(["global", "a", "a/p"]);
    expect(readableScopes(viewer("a/p"), "a/p")).toEqual(["global", "a", "a/p"]);
    expect(readableScopes(viewer("a/p"), "a")).toEqual(["global", "a"]);
    expect(readableScopes(viewer("a"), "a")).toEqual(["global", "a"]);
    expect(readableScopes(viewer("a"), "global")).toEqual(["global"]);
    expect(readableScopes(viewer("a", true), undefined)).toEqual(["global", "a"]);
    expect(readableScopes(viewer("a", true), "b/p/q")).toEqual(["global", "b", "b/p/q"]);
    expect(readableScopes(viewer("a", true), "*")).toBeUndefined();
    expect(() => readableScopes(viewer("a"), "*")).toThrow(/admin/);
    for (const foreign of ["b", "a/p", "a/"]) expect(() => readableScopes(viewer("a"), foreign)).toThrow(/not yours/);
    for (const foreign of ["b", "a/q", "b/p", "a/p/q", "a/"])
      expect(() => readableScopes(viewer("a/p"), foreign), foreign).toThrow(/not yours/);
  });

  it("never opens another scope by its beginning", () => {
    fc.assert(
      fc.property(step, fc.stringMatching(/^[a-z0-9*%_/]{1,4}$/), (own, more) => {
        const longer = `${own}${more}`;
        expect(canSee(viewer(own), longer)).toBe(false);
        expect(canSee(viewer(longer), own)).toBe(own === butlerOf(longer));
        expect(readableScopes(viewer(own), undefined)).not.toContain(longer);
        expect(() => readableScopes(viewer(own), longer)).toThrow();
      }),
    );
  });

  it("what can be read by its scope can be seen by its id, and the other way round", () => {
    fc.assert(
      fc.property(step, fc.oneof(step, fc.constant(GLOBAL_SCOPE)), fc.boolean(), (own, scope, admin) => {
        const listed = readableScopes(viewer(own, admin), admin ? "*" : undefined);
        expect(canSee(viewer(own, admin), scope)).toBe(listed === undefined || listed.includes(scope));
      }),
    );
  });

  it("of two butlers has nothing in common but what is global", () => {
    fc.assert(
      fc.property(name, name, fc.option(project), fc.option(project), (a, b, p, q) => {
        fc.pre(a !== b);
        const of = (butler: string, key: string | null) => (key === null ? butler : projectScope(butler, key));
        const theirs = ladderOf(of(b, q));
        expect(ladderOf(of(a, p)).filter((one) => theirs.includes(one))).toEqual([GLOBAL_SCOPE]);
      }),
    );
  });
});

describe("writing", () => {
  it("without a scope is the project's, the person's is the butler's, and without a project it is everybody's", () => {
    expect(writableScope(viewer("a/p"), undefined)).toBe("a/p");
    expect(writableScope(viewer("a/p"), undefined, true)).toBe("a");
    expect(writableScope(viewer("a"), undefined)).toBe("global");
    expect(writableScope(viewer("a"), undefined, true)).toBe("global");
    expect(writableScope(viewer("a/p", true), undefined)).toBe("a/p");
  });

  it("goes to the step that was named, if one stands on it, and never to every scope", () => {
    for (const own of ["global", "a", "a/p"]) expect(writableScope(viewer("a/p"), own, true)).toBe(own);
    expect(writableScope(viewer("a", true), "b")).toBe("b");
    for (const foreign of ["b", "a/q", "b/p"]) expect(() => writableScope(viewer("a/p"), foreign)).toThrow(/not yours/);
    expect(() => writableScope(viewer("a", true), "*")).toThrow(/one scope/);
  });

  it("is read again by whoever wrote it, and what is learned is never global", () => {
    fc.assert(
      fc.property(step, fc.boolean(), (own, aboutPerson) => {
        expect(canSee(viewer(own), writableScope(viewer(own), undefined, aboutPerson))).toBe(true);
        const learned = learnedScope(own, aboutPerson);
        expect(ladderOf(own).slice(1)).toContain(learned);
        expect(learned).toBe(aboutPerson ? butlerOf(own) : own);
      }),
    );
  });
});

describe("about the person", () => {
  it("is a fact whose subject is one of the names for them", () => {
    for (const subject of ["user", "User", "the_user", "Owner", "me", "I", "myself", "Human"])
      expect(isPerson(subject), subject).toBe(true);
    for (const subject of ["Ada", "users", "user service", "client", "project", "owner team"])
      expect(isPerson(subject), subject).toBe(false);
  });

  it("is a rule that says how to treat them", () => {
    for (const rule of [
      "Call me Ada.",
      "Always ask me before you push",
      "Antworte mir auf Deutsch",
      "The user prefers short answers",
    ])
      expect(isAboutPerson(rule), rule).toBe(true);
    for (const rule of [
      "Run the tests before pushing.",
      "Use my fork of the parser",
      "Never show the user a stack trace",
      "Delete branches named merge-me",
    ])
      expect(isAboutPerson(rule), rule).toBe(false);
  });
});
