/** Six weeks of a butler who works for Ada. Told through the same tools that an agent would call. */
export type Answer = Readonly<Record<string, unknown>>;

export interface Stage {
  /** Moves the clock to the morning of this day and names what happens. */
  day(day: number, title: string): void;
  call(tool: string, input: Answer, session: string): Promise<Answer>;
  /** Prints a sentence of its own. */
  remark(sentence: string): void;
}

export interface Kept {
  readonly home: string;
  readonly editor: string;
  readonly migrations: string;
  readonly restart: string;
  readonly surprise: string;
}

export const LAST_DAY = 44;
export const QUESTION = "where does Ada live now?";
export const PROMPT = "Plan the deployment of the Ledger migration for Ada";

const idOf = (answer: Answer) => String(answer.id);

export async function live(stage: Stage): Promise<Kept> {
  const { day, remark } = stage;
  const episode = (session: string, content: string, more: Answer = {}) =>
    stage.call("memory_store_episode", { content, ...more }, session);
  const fact = (session: string, predicate: string, content: string, more: Answer = {}) =>
    stage.call("memory_store_fact", { subject: "Ada", predicate, content, ...more }, session);
  const rule = (session: string, content: string) => stage.call("memory_store_rule", { content }, session);
  const helpful = (session: string, rule_id: string, note: string) =>
    stage.call("memory_mark_helpful", { rule_id, note, session_id: session }, session);
  const harmful = (session: string, rule_id: string, reason: string) =>
    stage.call("memory_mark_harmful", { rule_id, reason, session_id: session }, session);

  day(0, "The first session");
  await episode("s1", "Ada introduced herself: she runs the invoicing service Ledger with a team of four.", {
    speaker: "Ada",
  });
  await fact("s1", "allergic_to", "peanuts", { permanence: "permanent", importance: 10 });
  const home = idOf(await fact("s1", "lives_in", "Hamburg", { permanence: "stable", importance: 8 }));
  const editor = idOf(await fact("s1", "editor", "Vim", { importance: 6 }));
  await fact("s1", "likes:green tea", "Ada likes green tea, best in the afternoon.");

  day(2, "A migration goes wrong");
  await episode("s2", "The Ledger migration locked the invoices table for eleven minutes; customers saw errors.", {
    importance: 8,
  });
  const migrations = idOf(await rule("s2", "Try a database migration on a copy of production before the real run."));
  const restart = idOf(await rule("s2", "Restart the payment worker when its queue grows."));
  const secret = idOf(
    await episode("s2", "The staging login is password: Tr0ub4dor&3xyz, Ada said, and please do not keep it."),
  );
  const kept = (await stage.call("memory_get", { id: secret }, "s2")).memory as { content: string };
  remark(`Kept as: ${kept.content}`);

  day(6, "Both rules are tried");
  await helpful("s3", migrations, "The copy showed a missing index.");
  await harmful("s3", restart, "the restart lost two payments that were under way");
  await episode("s3", "Ada and Charles agreed to bill in euros and in pounds from next quarter on.", {
    speaker: "Charles",
  });

  day(11, "More evidence");
  await helpful("s4", migrations, "Found a lock of nine minutes before customers could.");
  await harmful("s4", restart, "the queue grew again within minutes");
  const surprise = idOf(
    await fact("s4", "plans", "a surprise trip to Oslo for Charles's birthday", { permanence: "volatile" }),
  );

  day(18, "Ada moves");
  await fact("s5", "lives_in", "Lisbon", { permanence: "stable", importance: 8 });
  remark("Hamburg is not overwritten: it is superseded, and stays in the history.");
  await fact("s5", "editor", "Neovim", { importance: 6 });
  await helpful("s5", migrations, "A quick trial, no surprise.");
  await harmful("s5", restart, "a customer was charged twice");
  remark("The third harm turns the rule into a warning. What it said before is kept.");

  day(25, "A quiet week");
  await helpful("s6", migrations, "The trial took four minutes and the real run four.");
  await stage.call("memory_confirm", { type: "fact", id: await currentId(stage, "s6", "allergic_to") }, "s6");
  await stage.call("memory_forget", { type: "fact", id: surprise, reason: "Ada asked to forget it" }, "s6");
  remark("Forgotten is out of sight at once; memory_restore could bring it back.");

  day(39, "Before the release");
  await helpful("s7", migrations, "Caught a wrong default in the invoices table.");
  remark("Five helpful marks and no harm: the rule is established.");
  await fact("s7", "editor", "Helix", { importance: 6 });
  await episode("s7", "The currency change passed its trial run on the copy of production in six minutes.", {
    importance: 7,
  });
  await episode("s7", "Ada wants the release on a Tuesday, after the stand-up and never on a Friday.", {
    speaker: "Ada",
  });

  day(LAST_DAY, "Today");
  await episode("s8", "The release of the currency change is planned for next Tuesday at ten.", { importance: 7 });
  await episode("s8", "The release of the currency change is planned for next Tuesday at ten.", { importance: 7 });
  remark("Told twice in one session, stored once.");
  return { home, editor, migrations, restart, surprise };
}

async function currentId(stage: Stage, session: string, predicate: string): Promise<string> {
  const answer = await stage.call("memory_recall", { topic: `Ada ${predicate.replaceAll("_", " ")}` }, session);
  const results = answer.results as readonly { id: string; predicate?: string }[];
  const found = results.find((result) => result.predicate === predicate);
  if (!found) throw new Error(`the demonstration lost its fact ${predicate}`);
  return found.id;
}
