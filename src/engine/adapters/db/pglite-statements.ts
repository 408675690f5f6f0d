/**
 * Statements that come again are prepared once. Parsing and planning anew took 0.6 ms of the smallest statement and 5 of the
 * 22 ms in which a search gathers its candidates; PGlite itself never keeps a plan.
 */
import { messages, type PGlite, parse, protocol } from "@electric-sql/pglite";
import { type ColumnReader, columnReaders, inBinary, readRows } from "./pglite-binary.ts";

interface Statement {
  readonly name: string;
  readonly paramTypes: readonly number[];
  readonly rows: messages.RowDescriptionMessage | undefined;
  /** One for each column, when the statement brings bytes and all columns can be read in binary. */
  readonly readers: readonly ColumnReader[] | undefined;
}

export interface Statements {
  query(text: string, params: readonly unknown[]): Promise<unknown[]>;
  /** A script of several statements. */
  exec(script: string): Promise<void>;
  /** Said before every call: whether a transaction is open. */
  standing(inTransaction: boolean): void;
}

/** Statements of one text each: a house has some dozens of them. Their plans take memory, so the number is bounded. */
const MOST = 200;
const NOTHING = new Uint8Array(0);
const RESULT_TYPE_CHANGED = "0A000";
const SHAPES = /^\s*(?:create|alter|drop|do)\b/i;
const SHAPES_WITHIN = /\b(?:create|alter|drop|do)\b/i;

/** `keep` makes bytes of a result its own. */
export function preparedStatements(pg: PGlite, keep: (bytes: Uint8Array) => Uint8Array): Statements {
  const { serialize } = protocol;
  /** Undefined: seen once. A Map keeps the order in which keys were set, so the first is the one unused for longest. */
  const seen = new Map<string, Statement | undefined>();
  let made = 0;
  let inTransaction = false;
  let reshaped = false;
  const send = (...parts: Uint8Array[]) => pg.execProtocol(Buffer.concat(parts), { syncToFs: false });

  async function prepare(text: string): Promise<Statement> {
    const name = `s${++made}`;
    const { messages: told } = await send(
      serialize.parse({ name, text }),
      serialize.describe({ type: "S", name }),
      serialize.sync(),
    );
    const params = told.find((m): m is messages.ParameterDescriptionMessage => m.name === "parameterDescription");
    const rows = told.find((m): m is messages.RowDescriptionMessage => m.name === "rowDescription");
    const readers = rows && columnReaders(rows.fields, keep);
    return { name, paramTypes: params?.dataTypeIDs ?? [], rows, readers };
  }

  /** The answer as it stands on the wire: the library's own parser knows text only. */
  async function sendRaw(...parts: Uint8Array[]): Promise<Buffer> {
    const chunks: Buffer[] = [];
    await pg.execProtocolRawStream(Buffer.concat(parts), {
      syncToFs: false,
      // A view of the engine's memory, which is gone with the next call.
      onRawData: (chunk) => void chunks.push(Buffer.from(chunk)),
    });
    // The engine keeps that listener until an ordinary call ends; an empty one is such a call.
    await pg.execProtocol(NOTHING, { syncToFs: false });
    return Buffer.concat(chunks);
  }

  async function forget(...texts: readonly string[]): Promise<void> {
    const names = texts.flatMap((text) => seen.get(text)?.name ?? []);
    for (const text of texts) seen.delete(text);
    if (names.length > 0) await send(...names.map((name) => serialize.close({ type: "S", name })), serialize.sync());
  }

  /**
   * Tables get another shape. A statement keeps the types of its parameters and rows from when it was prepared, so all are
   * forgotten, and none is prepared before it is known whether the change stays.
   */
  async function reshape(): Promise<void> {
    reshaped = inTransaction;
    await forget(...seen.keys());
  }

  async function run({ name, paramTypes, rows, readers }: Statement, params: readonly unknown[]): Promise<unknown[]> {
    const values = params.map((value, index) => {
      if (value === null || value === undefined) return null;
      const write = pg.serializers[paramTypes[index] ?? 0];
      return write ? write(value) : String(value);
    });
    const bind = serialize.bind({ statement: name, values });
    const rest = [serialize.execute({}), serialize.sync()];
    if (rows && readers) return readRows(await sendRaw(inBinary(bind), ...rest), rows.fields, readers);
    const { messages: told } = await send(bind, ...rest);
    return parse.parseResults(rows ? [rows, ...told] : told, pg.parsers)[0]?.rows ?? [];
  }

  const once = async (text: string, params: readonly unknown[]) => (await pg.query(text, [...params])).rows;

  async function query(text: string, params: readonly unknown[]): Promise<unknown[]> {
    if (SHAPES.test(text)) await reshape();
    if (reshaped) return once(text, params);
    if (!seen.has(text)) {
      seen.set(text, undefined);
      const [oldest] = seen.keys();
      if (seen.size > MOST && oldest !== undefined) await forget(oldest);
      return once(text, params);
    }
    const statement = seen.get(text) ?? (await prepare(text));
    seen.delete(text);
    seen.set(text, statement);
    try {
      return await run(statement, params);
    } catch (error) {
      // Something else than a statement of ours changed what it returns; the next call prepares it anew.
      if (error instanceof messages.DatabaseError && error.code === RESULT_TYPE_CHANGED) await forget(text);
      throw error;
    }
  }

  return {
    query,
    async exec(script) {
      if (SHAPES_WITHIN.test(script)) await reshape();
      await pg.exec(script);
    },
    standing(now) {
      if (now !== inTransaction) reshaped = false;
      inTransaction = now;
    },
  };
}
