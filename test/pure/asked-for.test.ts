import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { askedFor, liesIn } from "../../src/engine/domain/ranking/asked-for.ts";

const ask = (text: string, names: readonly string[] = []) => askedFor(text, names);
const on = (day: string): Date => new Date(`${day}T12:00:00Z`);

describe("a question asks for a time", () => {
  it.each([
    "When did she leave?",
    "what day was it",
    "In which month did it rain?",
    "How long ago was that?",
    "Since when does she paint?",
    "Wann war das?",
    "An welchem Tag kam der Brief?",
    "Seit wann malt sie?",
    "Vor wie vielen Jahren?",
    "Wie lange ist das her?",
  ])("%s", (text) => expect(ask(text)).toMatchObject({ when: true, list: false }));
  it.each(["Whenever", "what is it", "Wer war das?", "welche Farbe"])("not: %s", (text) =>
    expect(ask(text).when).toBe(false),
  );
});

describe("a question asks for a list", () => {
  it.each([
    "What has she painted?",
    "Which instruments do they have?",
    "What are her hobbies?",
    "How many children",
    "What do both like?",
    "In what ways did she help?",
    "Would she like Rome?",
    "Welche Bücher hat sie gelesen?",
    "Wie viele Kinder?",
    "Was sind ihre Hobbys?",
    "Was mögen beide?",
  ])("%s", (text) => expect(ask(text).list).toBe(true));
  it.each(["What did she paint?", "Was hat sie gestern gekauft?", "Who is it?", "When have both met?"])(
    "not: %s",
    (text) => expect(ask(text).list).toBe(false),
  );
});

describe("a question names a date", () => {
  it.each([
    ["on 8 May 2023", "2023-05-08"],
    ["on 8th of May 2023", "2023-05-08"],
    ["on May 8th, 2023", "2023-05-08"],
    ["on May 8, 2023?", "2023-05-08"],
    ["on 1 February, 2023?", "2023-02-01"],
    ["2023-05-08", "2023-05-08"],
    ["am 8. Mai 2023", "2023-05-08"],
    ["am 8.5.2023", "2023-05-08"],
    ["am 08.05.2023", "2023-05-08"],
    ["am 3. März 2023", "2023-03-03"],
  ])("%s", (text, day) => {
    const { dates } = ask(`What did she do ${text}`);
    const start = on(day).getTime();
    expect(dates).toHaveLength(1);
    const days = [-1, 0, 7, 8].map((after) => liesIn(dates, new Date(start + after * 86_400_000)));
    expect(days).toEqual([false, true, true, false]);
  });

  it.each(["in May 2023", "im Mai 2023", "May 2023"])("a month: %s", (text) => {
    const { dates } = ask(`What did she do ${text}?`);
    const days = ["2023-04-30", "2023-05-01", "2023-05-31", "2023-06-07", "2023-06-08", "2022-05-10"];
    expect(days.map((day) => liesIn(dates, on(day)))).toEqual([false, true, true, true, false, false]);
  });

  it("without a year that of the memory, or the one before where the week after runs into the next", () => {
    const { dates } = ask("What did she do in December?");
    expect(["2021-12-05", "2023-12-31", "2024-01-05", "2024-01-09"].map((day) => liesIn(dates, on(day)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it("two dates with all between them", () => {
    const { dates } = ask("What happened between 3 May 2023 and 20 June 2023?");
    expect(["2023-05-02", "2023-05-25", "2023-06-27", "2023-06-28"].map((day) => liesIn(dates, on(day)))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it.each(["May I ask?", "you may ask", "we march on", "March on!", "Maybe", "Mayor Augustus", "1.2.3", "2023-13-45"])(
    "none: %s",
    (text) => expect(ask(text).dates).toEqual([]),
  );

  it("none where the month is somebody's name, or where a log is pasted", () => {
    expect(ask("What did April say?", ["april"]).dates).toEqual([]);
    expect(ask("What did April say on April 3?", ["april"]).dates).toHaveLength(1);
    expect(ask("2023-01-01 2023-01-02 2023-01-03 2023-01-04 2023-01-05").dates).toEqual([]);
  });

  it("any text and any moment are read", () => {
    const part = fc.constantFrom(
      "May ",
      "8",
      " 2023",
      "31. ",
      "February",
      ",",
      "0000-00-00",
      "99",
      "-",
      "٣",
      "Mai",
      "?",
    );
    const at = fc.date({ noInvalidDate: true });
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string())), at, (parts, date) => {
        expect(typeof liesIn(ask(parts.join("")).dates, date)).toBe("boolean");
      }),
    );
  });
});
