import { describe, expect, it } from "vitest";
import { told } from "../../src/engine/domain/ranking/told-times.ts";

describe("a time is told", () => {
  it.each([
    "We went to the beach yesterday.",
    "Last week I painted a sunrise",
    "last Friday was great",
    "It was two weekends ago.",
    "a couple of days ago she called",
    "I've had it since 2016",
    "I just signed up for a pottery class",
    "the other day",
    "See you in December!",
    "Gestern war ich im Kino.",
    "Letzte Woche haben wir gemalt",
    "vor drei Tagen kam ein Brief",
    "vor ein paar Wochen",
    "vor kurzem",
    "Das läuft seit 2019",
    "am Montag fange ich an",
    "Im Mai ziehen wir um",
    "Übermorgen ist Schluss",
    "Ich komme morgen.",
    "nächstes Jahr",
  ])("%s", (text) => expect(told(text).time).toBe(true));

  it.each([
    "You may march on.",
    "It was just great",
    "Three days of work",
    "He went back.",
    "in 12 ways",
    "the last word",
    "Guten Morgen!",
    "vor dem Haus",
    "vor drei Türen",
    "diese Farbe",
    "mondays-only",
    "constructor hasOwnProperty __proto__",
    "",
  ])("not: %s", (text) => expect(told(text).time).toBe(false));
});

describe("the first person", () => {
  it.each([
    ["The mill is old.", 0],
    ["I'm here", 1],
    ["I’ve told my sister", 2],
    ["I took me and my brother to our house", 3],
    ["Ich habe mein Rad repariert", 2],
    ["Wir haben uns unseren Garten angesehen", 3],
    ["Iris and Wirt", 0],
  ])("%s", (text, words) => expect(told(text).self).toBeCloseTo(words / 3, 12));
});

it("an enormous text is read at its beginning", () => {
  expect(told(`${"stone ".repeat(1_000_000)}yesterday I`)).toEqual({ self: 0, time: false });
  expect(told("a".repeat(5_000_000))).toEqual({ self: 0, time: false });
});
