import { expect, it } from "vitest";
import { inTurns, mapInTurns, nextTurn, TURN_CHARS } from "../../src/engine/adapters/turns.ts";
import { openRedactor } from "../../src/engine/memory/privacy.ts";
import { putLexical } from "../../src/engine/store/index/lexical.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { onOneRig } from "../support/tenants.ts";

/** Counts turns of the event loop while the work goes on; `now` is the one we are in. */
async function counting<T>(work: (now: () => number) => Promise<T>): Promise<T> {
  let turn = 0;
  let on = true;
  const next = () => {
    turn++;
    if (on) setImmediate(next);
  };
  setImmediate(next);
  try {
    return await work(() => turn);
  } finally {
    on = false;
  }
}

const ROWS = 12;
const long = (row: number) => `Row ${row}. ${"We talked about the garden and the weather. ".repeat(450)}`;
const different = (turns: readonly number[]) => new Set(turns).size;

it("a slice of work is bounded by its characters, not by the number of its items", async () => {
  await counting(async (now) => {
    const turns = await mapInTurns(
      Array.from({ length: 40 }, () => TURN_CHARS / 4),
      (chars) => chars,
      now,
    );
    for (const turn of turns) expect(turns.filter((other) => other === turn).length).toBeLessThanOrEqual(4);
    expect(
      await inTurns(
        (function* () {
          yield;
          yield;
          return now();
        })(),
      ),
    ).toBeGreaterThan(turns.at(-1) ?? 0);
  });
});

it("of many that wait for a turn each gets one of its own", async () => {
  await counting(async (now) => {
    const turns = await Promise.all(Array.from({ length: 20 }, () => nextTurn().then(now)));
    expect(different(turns)).toBe(20);
  });
});

onOneRig(
  "long work",
  (guest) => {
    it("a batch of long rows lets others in between its rows, while they are prepared and while their words are filed", async () => {
      const g = guest();
      const prepared: number[] = [];
      const outcome = await counting((now) => {
        const next = (at: Date) => {
          prepared.push(now());
          return g.memory.ids.next(at);
        };
        return callTool(
          { ...g.memory, ids: { next } },
          { name: "test", tenant: g.tenant, butler: "*", admin: false, voice: "agent" },
          {
            tool: "memory_ingest_batch",
            input: { episodes: Array.from({ length: ROWS }, (_, n) => ({ content: long(n) })) },
          },
        );
      });
      expect(outcome).toMatchObject({ ok: true });
      expect(different(prepared.slice(0, ROWS))).toBe(ROWS);

      const filed: number[] = [];
      await counting((now) => {
        const row = (n: number) => ({
          memoryId: String(n),
          sk: 1,
          get text() {
            filed.push(now());
            return long(n);
          },
        });
        const nowhere = { query: async () => [] } as unknown as Parameters<typeof putLexical>[0];
        return putLexical(
          nowhere,
          Array.from({ length: ROWS }, (_, n) => row(n)),
        );
      });
      expect(different(filed)).toBeGreaterThanOrEqual(ROWS);
    });

    it("contexts that were asked for together are put together one a turn, where each takes its time", async () => {
      const g = guest();
      const budgets: number[] = [];
      await counting((now) => {
        const count = (text: string) => {
          budgets.push(now());
          // Longer than answers share a turn.
          for (const until = performance.now() + 5; performance.now() < until; );
          return g.memory.tokenizer.count(text);
        };
        return callTool(
          { ...g.memory, tokenizer: { ...g.memory.tokenizer, count } },
          { name: "test", tenant: g.tenant, butler: "*", admin: false, voice: "agent" },
          {
            tool: "memory_context_batch",
            input: { requests: Array.from({ length: 8 }, (_, n) => ({ trigger_prompt: `garden ${n}` })) },
          },
        );
      });
      expect(different(budgets)).toBeGreaterThanOrEqual(8);
    });

    it("one long text is redacted in slices, and comes out as in one go", async () => {
      const text = `${long(1)} password: hunter2secret ${long(2)} ${long(3)} ${long(4)}`.slice(0, 100_000);
      await counting(async (now) => {
        const redactor = openRedactor(guest().memory);
        const before = now();
        const said = await redactor.longText(text);
        expect(now() - before).toBeGreaterThanOrEqual(2);
        expect(said).toBe(openRedactor(guest().memory).text(text));
        expect(redactor.redactions).toEqual([{ kind: "password", count: 1 }]);
      });
    });
  },
  { only: "embedded", model: false },
);
