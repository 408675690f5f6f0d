/**
 * Columns of bytes as bytes. The driver asks for every result as text and reads nothing else: a bytea then comes as two hexadecimal digits a
 * byte, is made a string, and is turned back. Here a statement that was seen to have such columns asks for them as they are from its
 * second run on, and every message is gathered in one piece of memory of its own size, where the driver doubles what it has until the message fits.
 * All other columns remain text.
 */
import { EventEmitter } from "node:events";
import { Socket, type SocketConstructorOpts } from "node:net";
import type { Duplex } from "node:stream";
import type pg from "pg";
import { unavailable } from "../../domain/errors.ts";
import { giveBack, lendBytes } from "../lent-bytes.ts";

const BYTEA = 17;
const TEXT = 0;
const BINARY = 1;

/** What the driver's connection has besides what its types say. */
interface Wire extends pg.Connection {
  attachListeners(stream: EventEmitter): void;
  bind(config: { readonly binary?: unknown } | null, more: boolean): void;
  _send(message: Buffer): boolean;
}

type Fields = readonly { readonly dataTypeID: number; readonly format: string }[];

const MOST_KNOWN = 1000;

/** Which columns these are may change with the table: they are read as text. */
const EVERY_COLUMN = /(?:select|distinct|,|\.)\s*\*/i;

export interface ByteColumns {
  /** The format of each column of a statement; undefined where all are text, or not known yet. */
  formats(text: string): readonly number[] | undefined;
  /** What is learned from an answer, for the next time. */
  note(text: string, fields: Fields): void;
}

/** What is known of the statements of one database. */
export function byteColumns(): ByteColumns {
  const known = new Map<string, readonly number[]>();
  return {
    formats: (text) => known.get(text),
    note(text, fields) {
      const formats = known.get(text);
      if (formats?.some((format, at) => format === BINARY && fields[at]?.dataTypeID !== BYTEA)) {
        known.delete(text);
        throw unavailable("a column of the store has become one of another type. Ask again.");
      }
      const hasBytes = fields.some(({ dataTypeID }) => dataTypeID === BYTEA);
      if (formats !== undefined || !hasBytes || EVERY_COLUMN.test(text)) return;
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(
        text,
        fields.map(({ dataTypeID }) => (dataTypeID === BYTEA ? BINARY : TEXT)),
      );
    },
  };
}

/** The driver calls it with what it knows of the connection. */
type StreamOf = (config?: { readonly ssl?: unknown }) => Duplex;

/**
 * The driver's settings for a connection whose socket reads into the same piece of memory again and again. Each answer of a search would otherwise be
 * allocated twice, and what is allocated outside of V8's heap counts as if it were in its old space: 11 MB of it began a collection of all.
 * An encrypted connection is read by what decrypts it.
 */
export function oneBuffer(): { readonly stream: StreamOf } {
  return {
    stream: (config) => {
      if (config?.ssl) return new Socket();
      const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
      const socket: Socket = new Socket({
        onread: {
          buffer,
          callback: (size: number) => {
            socket.emit("data", buffer.subarray(0, size));
            return true;
          },
        },
      } as SocketConstructorOpts);
      return socket;
    },
  };
}

const READ_BYTES = 65_536;

/** To be called before the client connects. */
export function readBytes(client: pg.Client): void {
  const connection = client.connection as Wire;
  const parseText = client.getTypeParser(BYTEA, "text") as (text: string) => Buffer;
  client.setTypeParser(BYTEA, "text", (value: unknown) =>
    Buffer.isBuffer(value) ? value : parseText(value as string),
  );
  askForBytes(connection);
  const { attachListeners } = connection;
  connection.attachListeners = (stream) => {
    const rest = new EventEmitter();
    attachListeners.call(connection, rest);
    const frames = framesTo(
      (bytes) => void rest.emit("data", bytes),
      (fields) => void connection.emit("dataRow", { name: "dataRow", fields }),
    );
    // Before the client hears of them. To its parser of rows these columns are text that needs no conversion.
    connection.prependListener("rowDescription", ({ fields }: { fields: { format: string }[] }) => {
      frames.expect(fields.map(({ format }) => format === "binary"));
      for (const field of fields) field.format = "text";
    });
    stream.on("data", (chunk: Buffer) => frames.take(chunk));
  };
}

/** The driver can ask for all columns as text or for all in binary: that is the end of its message, and is replaced. */
function askForBytes(connection: Wire): void {
  const { bind } = connection;
  connection.bind = (config, more) => {
    const formats = config?.binary;
    if (!Array.isArray(formats)) return bind.call(connection, config, more);
    const { _send } = connection;
    connection._send = (message) => _send.call(connection, withFormats(message, formats));
    try {
      bind.call(connection, { ...config, binary: false }, more);
    } finally {
      connection._send = _send;
    }
  };
}

const ALL_TEXT = Buffer.from([0, 1, 0, TEXT]);

export function withFormats(message: Buffer, formats: readonly number[]): Buffer {
  const end = message.length - ALL_TEXT.length;
  if (!message.subarray(end).equals(ALL_TEXT)) return message;
  const changed = Buffer.allocUnsafe(end + 2 + 2 * formats.length);
  message.copy(changed, 0, 0, end);
  changed.writeInt16BE(formats.length, end);
  for (const [at, format] of formats.entries()) changed.writeInt16BE(format, end + 2 + 2 * at);
  changed.writeInt32BE(changed.length - 1, 1);
  return changed;
}

const HEAD = 5;
const DATA_ROW = 0x44;
const ROW_DESCRIPTION = 0x54;
const COMMAND_COMPLETE = 0x43;
const READY = 0x5a;

type Field = Buffer | string | null;

interface Frames {
  /** Which columns of the rows that follow are bytes. */
  expect(binary: readonly boolean[]): void;
  take(chunk: Buffer): void;
}

/** Cuts what the server sends into messages. Rows with columns of bytes are read here; everything else goes on to the driver, in whole messages. */
export function framesTo(passOn: (messages: Buffer) => void, row: (fields: Field[]) => void): Frames {
  let binary: readonly boolean[] = [];
  /** A message of which a part has come, or fewer bytes than tell its length. */
  let begun: Buffer = Buffer.alloc(0);
  let filled = 0;

  /** Gives back where the last whole message ends. */
  const messages = (bytes: Buffer): number => {
    let from = 0;
    let at = 0;
    const flush = () => {
      if (at > from) passOn(bytes.subarray(from, at));
      from = at;
    };
    while (at + HEAD <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      const code = bytes[at];
      if (code === DATA_ROW && binary.includes(true)) {
        flush();
        row(fieldsOf(bytes.subarray(at + HEAD, end), binary));
        from = end;
      }
      at = end;
      // What it says of the columns must be known before the first row.
      if (code === ROW_DESCRIPTION) flush();
      else if (code === COMMAND_COMPLETE || code === READY) binary = [];
    }
    flush();
    return at;
  };

  /** What has come of a message is completed; gives back what follows it, or nothing if it is not complete yet. */
  const complete = (chunk: Buffer): Buffer => {
    if (filled === 0) return chunk;
    if (filled < HEAD) {
      const both = Buffer.concat([begun.subarray(0, filled), chunk]);
      filled = 0;
      return both;
    }
    const copied = chunk.copy(begun, filled);
    filled += copied;
    if (filled < begun.length) return chunk.subarray(copied);
    const whole = begun;
    begun = Buffer.alloc(0);
    filled = 0;
    messages(whole);
    giveBack(whole);
    return chunk.subarray(copied);
  };

  return {
    expect: (columns) => {
      binary = columns;
    },
    take: (chunk) => {
      const rest = complete(chunk);
      const left = rest.subarray(messages(rest));
      if (left.length === 0) return;
      begun = lendBytes(left.length < HEAD ? HEAD : 1 + left.readUInt32BE(1));
      filled = left.copy(begun);
    },
  };
}

function fieldsOf(row: Buffer, binary: readonly boolean[]): Field[] {
  let at = 2;
  return Array.from({ length: row.readInt16BE(0) }, (_, column) => {
    const size = row.readInt32BE(at);
    at += 4;
    if (size < 0) return null;
    const value = row.subarray(at, at + size);
    at += size;
    if (binary[column] !== true) return value.toString("utf8");
    const bytes = lendBytes(size);
    value.copy(bytes);
    return bytes;
  });
}
