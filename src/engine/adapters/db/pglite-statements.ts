/**
 * Prepares a statement when it comes the second time. Parsing and planning anew took 0.6 ms of the smallest statement and 5 of the
 * 22 ms in which a search gathers its candidates; PGlite itself never keeps a plan.
 */
import { messages, type PGlite, parse, protocol } from "@electric-sql/pglite";
import { BYTEA, type ColumnReader, columnReaders, floatsInBinary, inBinary, readRows } from "./pglite-binary.ts";
import { floatsLiteral } from "./port.ts";

interface Statement {
  readonly name: string;
  readonly paramTypes: readonly number[];
  readonly rows: messages.RowDescriptionMessage | undefined;
  /** One for each column, when the statement brings bytes and all columns can be read in binary. */
  readonly readers: readonly ColumnReader[] | undefined;
}

export interface Statements {
  /** A plan with row security belongs to a role: each role has its own, so that none is made anew because two take turns. */
  query(text: string, params: readonly unknown[], role: string): Promise<unknown[]>;
  /** A script of several statements. */
  exec(script: string): Promise<void>;
  /** To be called before every call: whether a transaction is open. */
  setInTransaction(now: boolean): void;
}

/** Hears what the triggers of the store raise: the SQLSTATE and the words of a notice. */
export type Notice = (code: string | undefined, message: string | undefined) => void;

interface State {
  readonly pg: PGlite;
  readonly notice: Notice;
  readonly keep: (bytes: Uint8Array) => Uint8Array;
  /** By role and text. Undefined: seen once. A Map keeps the order in which keys were set, so the first is the one unused for longest. */
  readonly seen: Map<string, Statement | undefined>;
  made: number;
  inTransaction: boolean;
  /** A transaction that is still open has changed tables. */
  reshaped: boolean;
}

const { serialize } = protocol;

/** Statements that are kept. A store uses some dozens; their plans take memory, so the number is bounded. */
const MOST = 200;
const NOTHING = new Uint8Array(0);
const RESULT_TYPE_CHANGED = "0A000";
/** Statements that change the shape of tables. */
const SHAPES = /^\s*(?:create|alter|drop|do)\b/i;
const SHAPES_WITHIN = /\b(?:create|alter|drop|do)\b/i;

/** `keep` copies the bytes of a result out of the buffer they are a view of. */
export function preparedStatements(pg: PGlite, keep: (bytes: Uint8Array) => Uint8Array, notice: Notice): Statements {
  const state: State = { pg, notice, keep, seen: new Map(), made: 0, inTransaction: false, reshaped: false };
  return {
    query: (text, params, role) => query(state, text, params, `${role} ${text}`),
    async exec(script) {
      if (SHAPES_WITHIN.test(script)) await reshape(state);
      await pg.exec(script, { onNotice: ({ code, message }) => notice(code, message) });
    },
    setInTransaction(now) {
      if (now !== state.inTransaction) state.reshaped = false;
      state.inTransaction = now;
    },
  };
}

async function query(state: State, text: string, params: readonly unknown[], key: string): Promise<unknown[]> {
  const { seen } = state;
  if (SHAPES.test(text)) await reshape(state);
  if (state.reshaped) return once(state, text, params);
  if (!seen.has(key)) {
    seen.set(key, undefined);
    const [oldest] = seen.keys();
    if (seen.size > MOST && oldest !== undefined) await forget(state, oldest);
    return once(state, text, params);
  }
  const statement = seen.get(key) ?? (await prepare(state, text));
  seen.delete(key);
  seen.set(key, statement);
  try {
    return await run(state, statement, params);
  } catch (error) {
    // Its result type has changed in a way that was not seen here; the next call prepares it anew.
    if (error instanceof messages.DatabaseError && error.code === RESULT_TYPE_CHANGED) await forget(state, key);
    throw error;
  }
}

const once = async ({ pg, notice }: State, text: string, params: readonly unknown[]) =>
  (await pg.query(text, params.map(floatsLiteral), { onNotice: ({ code, message }) => notice(code, message) })).rows;

async function prepare(state: State, text: string): Promise<Statement> {
  const name = `s${++state.made}`;
  const { messages: answer } = await send(
    state.pg,
    serialize.parse({ name, text }),
    serialize.describe({ type: "S", name }),
    serialize.sync(),
  );
  const params = answer.find((m): m is messages.ParameterDescriptionMessage => m.name === "parameterDescription");
  const rows = answer.find((m): m is messages.RowDescriptionMessage => m.name === "rowDescription");
  const readers = rows && columnReaders(rows.fields, state.keep);
  return { name, paramTypes: params?.dataTypeIDs ?? [], rows, readers };
}

async function run({ pg, notice }: State, statement: Statement, params: readonly unknown[]): Promise<unknown[]> {
  const { name, paramTypes, rows, readers } = statement;
  const values = params.map((value, index) => {
    if (value === null || value === undefined) return null;
    // Bytes are sent in the binary format. Reading the 384 numbers of a vector from text took the engine half a millisecond.
    if (value instanceof Float32Array) return floatsInBinary(value);
    if (value instanceof Uint8Array && paramTypes[index] === BYTEA) return value;
    const write = pg.serializers[paramTypes[index] ?? 0];
    return write ? write(value) : String(value);
  });
  const bind = serialize.bind({ statement: name, values });
  const rest = [serialize.execute({}), serialize.sync()];
  if (rows && readers) return readRows(await sendRaw(pg, inBinary(bind), ...rest), rows.fields, readers);
  const { messages: answer } = await send(pg, bind, ...rest);
  for (const one of answer) if (one instanceof messages.NoticeMessage) notice(one.code, one.message);
  return parse.parseResults(rows ? [rows, ...answer] : answer, pg.parsers)[0]?.rows ?? [];
}

/**
 * Called before tables change their shape. A prepared statement keeps the types of its parameters and rows, so all are forgotten, and
 * none is prepared until the transaction ends: the change may be rolled back.
 */
async function reshape(state: State): Promise<void> {
  state.reshaped = state.inTransaction;
  await forget(state, ...state.seen.keys());
}

async function forget({ pg, seen }: State, ...keys: readonly string[]): Promise<void> {
  const names = keys.flatMap((key) => seen.get(key)?.name ?? []);
  for (const key of keys) seen.delete(key);
  if (names.length > 0) await send(pg, ...names.map((name) => serialize.close({ type: "S", name })), serialize.sync());
}

const send = (pg: PGlite, ...parts: Uint8Array[]) => pg.execProtocol(Buffer.concat(parts), { syncToFs: false });

/** The answer as raw messages: the library's own parser reads the text format only. */
async function sendRaw(pg: PGlite, ...parts: Uint8Array[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await pg.execProtocolRawStream(Buffer.concat(parts), {
    syncToFs: false,
    // A view of PGlite's memory, which is gone with the next call.
    onRawData: (chunk) => void chunks.push(Buffer.from(chunk)),
  });
  // PGlite keeps that listener until an ordinary call ends; an empty one is such a call.
  await pg.execProtocol(NOTHING, { syncToFs: false });
  return Buffer.concat(chunks);
}
