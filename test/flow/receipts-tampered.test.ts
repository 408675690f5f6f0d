/** Somebody with all rights on the database changes receipts, and makes their hashes anew: the chain, or the stream, tells. Retention leaves what both rest on. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { hex, type Receipt, receiptText } from "../../src/engine/domain/erasure/receipt.ts";
import { verifyReceipts } from "../../src/engine/memory/erase/receipts.ts";
import { retention } from "../../src/engine/memory/retention/retention.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { receiptsOf } from "../../src/engine/store/erasure/receipts.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest();

async function threeErasures(rig: Rig): Promise<void> {
  for (const subject of ["Zyxqualor", "Brimthwaite", "Quorvanek"]) {
    await rig.call("memory_store_fact", { subject, predicate: "lives in", content: `${subject} lives in Graz` });
    await rig.call("control_erase", { subject }, { as: { admin: true } });
    rig.later(1);
  }
}

onEachStore("receipts", (open) => {
  it("that were changed, forged or dropped are told, whoever made their hashes anew, and outlive the stream", async () => {
    const rig = await open({ model: false });
    await threeErasures(rig);
    const whole = await receiptsOf(rig.db, "default");
    const [first, middle, last] = whole as [Receipt, Receipt, Receipt];
    expect(await verifyReceipts(rig.db)).toEqual({ receipts: 3, faults: [] });
    await rig.db.exec("create table kept_receipts as select * from erasure_receipts order by seq");
    /** What is told after this change; all is put back afterwards. */
    const after = async (sql: string, params: readonly unknown[] = []): Promise<string> => {
      await rig.db.exec("alter table erasure_receipts disable trigger user");
      await rig.db.query(sql, [...params]);
      const { faults } = await verifyReceipts(rig.db);
      await rig.db.exec(
        "delete from erasure_receipts; insert into erasure_receipts overriding system value select * from kept_receipts; alter table erasure_receipts enable trigger user",
      );
      expect((await verifyReceipts(rig.db)).faults).toEqual([]);
      return faults.join("\n");
    };
    const rehashed = (receipt: Receipt, before = receipt.before) =>
      sha256(receiptText({ ...receipt, actor: "nobody" }, before));
    const set = "update erasure_receipts set actor = 'nobody', hash = $2 where id = $1";

    expect(await after("update erasure_receipts set counts = '{}' where id = $1", [middle.id])).toBe(
      `receipt ${middle.id} was changed`,
    );
    expect(
      await after("update erasure_receipts set erased_at = erased_at - interval '1 year' where id = $1", [first.id]),
    ).toBe(`receipt ${first.id} was changed`);
    // With a hash that fits, the next receipt or the event still knows the one before.
    expect(await after(set, [middle.id, rehashed(middle)])).toBe(
      `a receipt before ${last.id} is missing\nreceipt ${middle.id} is not the one that was written`,
    );
    expect(await after(set, [last.id, rehashed(last)])).toBe(`receipt ${last.id} is not the one that was written`);
    expect(await after("delete from erasure_receipts where id = $1", [middle.id])).toBe(
      `a receipt before ${last.id} is missing\nreceipt ${middle.id} is missing`,
    );
    expect(await after("delete from erasure_receipts")).toContain(`receipt ${last.id} is missing`);
    const forged: Receipt = { ...last, id: rig.memory.ids.next(rig.now), before: last.hash };
    const hash = sha256(receiptText(forged, forged.before));
    expect(
      await after(
        `insert into erasure_receipts (id, tenant_id, butler, kind, erased_at, actor, memories, counts, before, hash)
         select $1, tenant_id, butler, kind, erased_at, actor, memories, counts, hash, $3 from kept_receipts where id = $2`,
        [forged.id, last.id, hash],
      ),
    ).toContain(`no event tells of receipt ${forged.id}`);
    expect(hex(last.before)).toBe(hex(middle.hash));
    await rig.db.exec("drop table kept_receipts");

    // Retention takes neither the events that tell of them nor what replay needs.
    const kept = await rig.call("memory_store_fact", { subject: "office", predicate: "is in", content: "Graz" });
    for (let n = 0; n < 3; n++) {
      await rig.call("memory_confirm", { type: "fact", id: kept.id });
      rig.later(1);
    }
    rig.later(800);
    const settings = Settings.parse({ events: { keep_days: 1, keep_reads_days: 1 } });
    const { counts } = await runJob(rig, retention, { settings });
    expect(counts.events_folded).toBeGreaterThan(0);
    expect(
      await rig.db.query("select count(*)::int4 as n from memory_events where event_type = 'erasure.done'"),
    ).toEqual([{ n: 3 }]);
    const report = await verifyInScratch(rig.db);
    expect(report).toMatchObject({ equal: true, receipts: { receipts: 3, faults: [] }, checkpoints: { faults: [] } });
    // A receipt that goes now is missed all the same.
    await rig.db.exec("alter table erasure_receipts disable trigger user; delete from erasure_receipts");
    expect((await verifyInScratch(rig.db)).receipts.faults.length).toBeGreaterThanOrEqual(3);
    await rig.db.exec("alter table erasure_receipts enable trigger user");
  });
});
