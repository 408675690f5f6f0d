/**
 * Facts whose predicates the settings name are stored encrypted: in their row, in the stream, and in the records of consolidation.
 * Whatever a tenant's call reads is decrypted on its way out of the store, in one place; work over all tenants sees what is stored.
 */
import type { Db, Sql } from "../adapters/db/port.ts";
import { unavailable } from "../domain/errors.ts";
import { type FactWords, factText } from "../domain/fact.ts";
import { isAmong, NOT_SHOWN, openRows, partsOfSealed, sealClaims } from "../domain/sealed.ts";
import type { Call, Memory } from "./memory.ts";

type Sealing = Pick<Memory, "vault" | "settings">;

export const isSecret = ({ settings }: Sealing, predicate: string): boolean =>
  isAmong(settings.privacy.encrypt_predicates, predicate);

/** What is indexed and embedded of a fact: of an encrypted one its subject and predicate alone. live.ts says the same in SQL. */
export const indexedFact = (memory: Sealing, fact: FactWords): string =>
  factText(isSecret(memory, fact.predicate_text) ? { ...fact, content: "" } : fact);

const noKey = (what: string) =>
  unavailable(
    `${what}: give the key in the environment variable or file that [modules.memory.privacy] names (encryption_key_env, encryption_key_file; BUTLER_ENCRYPTION_KEY by default) and start the owner again. Without the key the text is lost.`,
  );

export function sealFor({ vault }: Sealing, tenant: string, text: string): string {
  if (vault === undefined) throw noKey("this predicate is stored encrypted (encrypt_predicates), and there is no key");
  return vault.seal(text, tenant);
}

/** A row as it is stored. */
export const sealedFact = <F extends { readonly predicate: string; readonly content: string }>(
  { memory, caller }: Call,
  fact: F,
): F => (isSecret(memory, fact.predicate) ? { ...fact, content: sealFor(memory, caller.tenant, fact.content) } : fact);

export const sealedClaims = ({ memory, caller }: Call, value: unknown): unknown =>
  sealClaims(value, memory.settings.privacy.encrypt_predicates, (text) => sealFor(memory, caller.tenant, text));

/** Decrypts what was encrypted for a tenant. */
export const openerFor =
  ({ vault }: Pick<Memory, "vault">, tenant: string) =>
  (text: string): string => {
    const parts = partsOfSealed(text);
    // It was cut for a list.
    if (parts === undefined) return NOT_SHOWN;
    const plain = vault?.open(text, tenant);
    if (plain === undefined) throw noKey(`a fact is encrypted with the key ${parts.keyId}, which is not at hand`);
    return plain;
  };

/** The store as its tenant reads it. Other settings give the store as it is. */
export function unsealing(db: Db, memory: Sealing, tenant: string): Db {
  const open = openerFor(memory, tenant);
  const reading = (sql: Sql): Sql => ({
    query: async <R>(text: string, params?: readonly unknown[]) => openRows(await sql.query<R>(text, params), open),
  });
  const replicas = db.reading && { reading: () => unsealing(db.reading?.() ?? db, memory, tenant) };
  return { ...db, ...replicas, query: reading(db).query, tx: (work) => db.tx((sql) => work(reading(sql))) };
}
