import { describe, expect, it } from "vitest";
import { byteColumns, framesTo, withFormats } from "../../src/engine/adapters/db/postgres-bytes.ts";

const message = (code: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(code, 0, "latin1");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const int = (value: number, bytes: number) => {
  const x = Buffer.alloc(bytes);
  x.writeIntBE(value, 0, bytes);
  return x;
};
const row = (...fields: (Buffer | null)[]) =>
  message(
    "D",
    Buffer.concat([
      int(fields.length, 2),
      ...fields.flatMap((field) => (field === null ? [int(-1, 4)] : [int(field.length, 4), field])),
    ]),
  );

const LONG = Buffer.from(Uint8Array.from({ length: 3000 }, (_, i) => (i * 13) % 256));
const DESCRIBED = message("T", Buffer.from("columns"));
const ROWS = [row(Buffer.from("größe"), LONG), row(null, null), row(Buffer.from(""), Buffer.alloc(0))];
const AFTER = [
  message("C", Buffer.from("SELECT 3\0")),
  row(Buffer.from("text"), Buffer.from("\\x00")),
  message("Z", Buffer.from("I")),
];
const STREAM = Buffer.concat([message("1", Buffer.alloc(0)), DESCRIBED, ...ROWS, ...AFTER]);

/** What comes out of the stream in pieces of these sizes, in order. */
function read(sizes: (at: number) => number): unknown[] {
  const out: unknown[] = [];
  const frames = framesTo(
    (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + bytes.readUInt32BE(at + 1);
        expect(end).toBeLessThanOrEqual(bytes.length);
        const one = bytes.subarray(at, end);
        out.push(one.toString("latin1"));
        if (one.equals(DESCRIBED)) frames.expect([false, true]);
        at = end;
      }
    },
    (fields) => out.push(fields.map((field) => (Buffer.isBuffer(field) ? [...field] : field))),
  );
  for (let at = 0; at < STREAM.length; ) {
    const end = at + sizes(at);
    frames.take(Buffer.from(STREAM.subarray(at, end)));
    at = end;
  }
  return out;
}

describe("messages of a server", () => {
  const whole = read(() => STREAM.length);

  it("are whole, in order, and have their bytes, however they were cut", () => {
    expect(whole).toEqual([
      message("1", Buffer.alloc(0)).toString("latin1"),
      DESCRIBED.toString("latin1"),
      ["größe", [...LONG]],
      [null, null],
      ["", []],
      ...AFTER.map((one) => one.toString("latin1")),
    ]);
    for (const size of [1, 2, 3, 4, 5, 6, 7, 64, 1000, 2999, 3010])
      expect(
        read(() => size),
        `${size}`,
      ).toEqual(whole);
    expect(read((at) => 1 + ((at * 31) % 97))).toEqual(whole);
  });

  it("few bytes do not keep alive the piece in which they came", () => {
    const kept: Buffer[] = [];
    const frames = framesTo(
      () => undefined,
      (fields) => kept.push(...fields.filter((field) => Buffer.isBuffer(field))),
    );
    frames.expect([true]);
    const few = row(Buffer.from("few"));
    frames.take(Buffer.concat([few, row(LONG), Buffer.from(new ArrayBuffer(60_000))]));
    expect(kept.map((x) => x.length)).toEqual([3, 3000]);
    for (const x of kept) expect(x.buffer.byteLength).toBeLessThan(20_000);
  });
});

describe("the format of columns", () => {
  const bytea = { dataTypeID: 17, format: "text" };
  const text = { dataTypeID: 25, format: "text" };

  it("is that of bytes where a statement was seen to have some, unless it takes whatever columns there are", () => {
    const { note, formats } = byteColumns();
    note("select a, x, b from pure_t", [text, bytea, bytea]);
    note("select a from pure_t", [text]);
    note("select * from pure_t", [text, bytea]);
    note("select t.* from pure_t t", [text, bytea]);
    note("select x, count(*) from pure_t", [bytea, text]);
    expect(formats("select a, x, b from pure_t")).toEqual([0, 1, 1]);
    expect(formats("select x, count(*) from pure_t")).toEqual([1, 0]);
    for (const other of ["select a from pure_t", "select * from pure_t", "select t.* from pure_t t"])
      expect(formats(other), other).toBeUndefined();
  });

  it("is forgotten when a column became another, and that is said", () => {
    const { note, formats } = byteColumns();
    note("select x from pure_u", [bytea]);
    expect(() => note("select x from pure_u", [text])).toThrow(/another type/);
    expect(formats("select x from pure_u")).toBeUndefined();
  });

  it("replaces the end of the driver's message, and only the end that it knows", () => {
    const bind = message("B", Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 0, 0]));
    expect([...withFormats(bind, [0, 1])]).toEqual([
      ...message("B", Buffer.from([0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1])),
    ]);
    const other = message("B", Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 0, 1]));
    expect(withFormats(other, [0, 1])).toBe(other);
  });
});
