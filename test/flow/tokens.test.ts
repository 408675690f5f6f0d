/** Every vector has the bits of its tokens beside it, from the same look at the text; names of speakers are not looked at. */
import { expect, test } from "vitest";
import type { Embedder } from "../../src/engine/adapters/embedder/port.ts";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { reembed } from "../../src/engine/memory/keep/reembed.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

interface Stored {
  readonly memory_id: string;
  readonly embedding: string;
  readonly word_pieces: number | null;
  readonly tokens: Uint8Array | null;
}

const stored = (rig: Rig) =>
  rig.db.query<Stored>("select memory_id, embedding::text, word_pieces, tokens from embeddings order by memory_id");

async function kept(rig: Rig, id: string) {
  const row = (await stored(rig)).find(({ memory_id }) => memory_id === id);
  return (
    row && {
      // A zero has two signs and one meaning.
      vector: Float32Array.from(JSON.parse(row.embedding) as number[], (x) => x + 0),
      pieces: row.word_pieces,
      bits: Buffer.from(row.tokens ?? []).toString("hex"),
    }
  );
}

/** To the nearest number of 11 bits, ties to the even one: what a half keeps of it. */
function half(x: number): number {
  const step = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(x) || 1))) - 10);
  const down = Math.floor(x / step);
  const rest = x / step - down;
  return (rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down) * step + 0;
}

async function expected(embedder: Embedder, text: string) {
  const { vector, tokens } = await embedder.embed(text, "write");
  expect(tokens.bits).toHaveLength(tokens.words.length * 48);
  expect(tokens.words.length).toBeGreaterThan(0);
  return { vector: vector.map(half), pieces: tokens.pieces, bits: Buffer.from(tokens.bits).toString("hex") };
}

const job = (rig: Rig) => ({ memory: rig.memory, now: rig.now, dryRun: false, interrupted: () => false });
async function ingest(rig: Rig): Promise<string[]> {
  const { results } = await rig.call("memory_ingest_batch", { episodes: TALK });
  return results.map(({ id }: { id: string }) => id);
}

/** A conversation: two people and a machine in one session, one of them in another, and somebody in none. */
const TALK = [
  { content: "Ada's harp is at Grace's house", session_id: "s1", speaker: "Ada Lovelace" },
  { content: "Then Ada should fetch it, says grace", session_id: "s1", speaker: "Grace" },
  { content: "Shall I tell Ada and Grace the way?", session_id: "s1", speaker: "assistant" },
  { content: "Ada and Grace own a boat", session_id: "s2", speaker: "Grace" },
  { content: "Alan met Ada in the garden", speaker: "Alan" },
  { content: "Nobody says that Ada is away", session_id: "s1" },
] as const;
const LOOKED_AT = [
  "harp is at house",
  "Then should fetch it, says",
  "Shall I tell Ada and Grace the way?",
  "Ada and own a boat",
  "met Ada in the garden",
  "Nobody says that Ada is away",
];

onEachStore("token bits", (open) => {
  async function hashed() {
    const rig = await open({ model: false });
    const embedder = hashEmbedder("a");
    await rig.memory.adopt(embedder);
    return { rig, embedder };
  }

  test("an episode, a fact and a rule have what embedding them again gives", async () => {
    const rig = await open();
    const embedder = rig.memory.embedder as Embedder;
    const episode = await rig.call("memory_store_episode", { content: "The reconfigured harp is in the attic." });
    const fact = await rig.call("memory_store_fact", { subject: "Ada", predicate: "lives_in", content: "London" });
    const rule = await rig.call("memory_store_rule", { content: "Never deploy on a Friday" });
    expect(await kept(rig, episode.id)).toEqual(await expected(embedder, "The reconfigured harp is in the attic."));
    expect(await kept(rig, fact.id)).toEqual(await expected(embedder, "Ada lives in: London"));
    expect(await kept(rig, rule.id)).toEqual(await expected(embedder, "Never deploy on a Friday"));
  });

  test("a rule that becomes a warning has the bits of the warning", async () => {
    const { rig, embedder } = await hashed();
    const { id } = await rig.call("memory_store_rule", { content: "Deploy on Friday" });
    for (const reason of ["outage", "outage again", "nobody was there"])
      await rig.call("memory_mark_harmful", { rule_id: id, reason });
    const [row] = await rig.db.query<{ content: string }>("select content from rules where id = $1", [id]);
    const content = row?.content ?? "";
    expect(content).not.toBe("Deploy on Friday");
    expect(await kept(rig, id)).toEqual(await expected(embedder, content));
  });

  test("a forgotten episode keeps its bits for a restore; once its time is over none are left", async () => {
    const { rig, embedder } = await hashed();
    const { id } = await rig.call("memory_store_episode", { content: "The harp was lent out" });
    await rig.call("memory_store_episode", { content: "The boat was painted" });
    await rig.call("memory_forget", { id });
    await rig.call("memory_restore", { id });
    expect(await kept(rig, id)).toEqual(await expected(embedder, "The harp was lent out"));
    await rig.call("memory_forget", { id });
    // What nobody has learned from becomes a dead letter first, and that is kept for as long as the grace.
    for (const _ of ["dead letter", "gone"]) {
      rig.later(4_000);
      await episodeCleanup.run(job(rig));
    }
    expect(await stored(rig)).toEqual([]);
  });

  test("what people say is embedded without the names of those who speak with them; the memory keeps them", async () => {
    const { rig, embedder } = await hashed();
    const made = await ingest(rig);
    expect([...embedder.asked].sort()).toEqual([...LOOKED_AT].sort());
    for (const [at, id] of made.entries()) {
      expect(await kept(rig, id)).toEqual(await expected(embedder, LOOKED_AT[at] as string));
      const [row] = await rig.db.query("select content from episodes where id = $1", [id]);
      expect(row).toEqual({ content: TALK[at]?.content });
    }
    const { results } = await rig.call("memory_search", { query: "Grace's harp", mode: "keyword", limit: 1 });
    expect(results[0]?.content).toBe(TALK[0].content);
    const [event] = await rig.db.query(
      "select payload -> 'row' ->> 'content' as content from memory_events where entity_id = $1 and event_type = $2",
      [made[0], "episode.stored"],
    );
    expect(event).toEqual({ content: TALK[0].content });
  });

  test("those who spoke before in the session count too, of this tenant only", async () => {
    const { rig, embedder } = await hashed();
    const say = (content: string, speaker: string, tenant = "default") =>
      rig.call("memory_store_episode", { content, speaker, session_id: "s1" }, { as: { tenant } });
    await say("Good morning", "Élodie Lamarr");
    await say("Good evening", "Alan", "elsewhere");
    embedder.asked.length = 0;
    await say("ÉLODIE and Alan met Grace", "Grace Hopper");
    await say("Élodie and user wrote an interface", "user");
    expect(embedder.asked).toEqual(["and Alan met", "Élodie and user wrote an interface"]);
  });

  test("names are taken out before a long text is cut", async () => {
    const { rig, embedder } = await hashed();
    const content = `${"Ada ".repeat(1_500)}plays the harp`;
    await rig.call("memory_store_episode", { content, speaker: "Ada", session_id: "s1" });
    expect(embedder.asked).toEqual(["plays the harp"]);
  });

  test("what was stored without a model gets both later, the same as if the model had been there", async () => {
    const { rig: early, embedder } = await hashed();
    const late = await open({ model: false });
    const life = async (rig: Rig) => {
      const episodes = await ingest(rig);
      const fact = await rig.call("memory_store_fact", { subject: "Ada", predicate: "lives in", content: "London" });
      return [...episodes, fact.id as string];
    };
    const [before, after] = [await life(early), await life(late)];
    expect(await stored(late)).toEqual([]);
    await late.memory.adopt(hashEmbedder("a"));
    expect(await reembed.run(job(late))).toMatchObject({ complete: true, counts: { embedded: TALK.length + 1 } });
    for (const [at, id] of after.entries())
      expect(await kept(late, id)).toEqual(await kept(early, before[at] as string));
    expect(await kept(late, after[0] as string)).toEqual(await expected(embedder, LOOKED_AT[0] as string));
  });

  test("the stream still tells everything", async () => {
    const { rig } = await hashed();
    await ingest(rig);
    const report = await verifyInScratch(rig.db);
    expect(report).toMatchObject({ equal: true, differences: [], orphans: [] });
  });
});
