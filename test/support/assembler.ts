/** An assembler for the few forms of WebAssembly text that the `.wat` files of the engine use: one memory, one function, folded instructions. */

type Form = string | Form[];
type List = Form[];

const I32 = 0x7f;
const I64 = 0x7e;
const F32 = 0x7d;
const F64 = 0x7c;
const V128 = 0x7b;
/** Precedes the opcode of an instruction on 128 bits. */
const SIMD = 0xfd;
const VOID = 0x40;
const END = 0x0b;

/** What follows the opcode of a load or store: alignment (as a power of two) and offset. */
const PLAIN: Readonly<Record<string, readonly number[]>> = {
  "i32.eq": [0x46],
  "i32.le_u": [0x4d],
  "i32.lt_u": [0x49],
  "i32.ge_u": [0x4f],
  "i32.add": [0x6a],
  "i32.mul": [0x6c],
  "i32.and": [0x71],
  "i32.shl": [0x74],
  "i32.shr_u": [0x76],
  "i32.wrap_i64": [0xa7],
  "i32.load": [0x28, 2, 0],
  "i32.load16_u": [0x2f, 1, 0],
  "i32.store": [0x36, 2, 0],
  "i32.store16": [0x3b, 1, 0],
  "f32.add": [0x92],
  "f32.load": [0x2a, 2, 0],
  "f32.mul": [0x94],
  "f32.store": [0x38, 2, 0],
  "f64.add": [0xa0],
  "f64.convert_i32_u": [0xb8],
  "f64.div": [0xa3],
  "f64.eq": [0x61],
  "f64.floor": [0x9c],
  "f64.load": [0x2b, 3, 0],
  "f64.max": [0xa5],
  "f64.mul": [0xa2],
  "f64.store": [0x39, 3, 0],
  "i64.load": [0x29, 3, 0],
  "i64.add": [0x7c],
  "i64.popcnt": [0x7b],
  "i64.xor": [0x85],
  "v128.load": [SIMD, 0x00, 4, 0],
  "v128.load32_splat": [SIMD, 0x09, 2, 0],
  "v128.store": [SIMD, 0x0b, 4, 0],
  "v128.and": [SIMD, 0x4e],
  "i32x4.splat": [SIMD, 0x11],
  "i32x4.extend_low_i16x8_s": [SIMD, 0xa7, 1],
  "i32x4.extend_high_i16x8_s": [SIMD, 0xa8, 1],
  "i32x4.shl": [SIMD, 0xab, 1],
  "f32x4.add": [SIMD, 0xe4, 1],
  "f32x4.mul": [SIMD, 0xe6, 1],
};

/** The bytes that a shuffle picks. */
const LANES = 16;

export function assemble(text: string): Uint8Array {
  const [module] = parse(text);
  const [, ...parts] = module as List;
  const memory = parts.find((part) => part[0] === "memory") as List;
  const code = parts.find((part) => part[0] === "func") as List;
  const variables = code.filter((part) => part[0] === "param" || part[0] === "local") as List[];
  const params = variables.filter(([kind]) => kind === "param").length;
  const ofType = (wanted: string) => variables.filter(([, , type]) => type === wanted).length;
  // Those of one type stand together, in this order.
  const groups = [
    [ofType("i32") - params, I32],
    [ofType("i64"), I64],
    [ofType("f32"), F32],
    [ofType("f64"), F64],
    [ofType("v128"), V128],
  ].filter(([count]) => count !== 0);
  const locals = [groups.length, ...groups.flatMap(([count = 0, type = 0]) => [...unsigned(count), type])];
  const names = variables.map(([, name]) => name as string);
  const body = code.slice(2 + variables.length).flatMap((form) => instruction(form as List, names, []));
  const exported = (form: List, kind: number) => {
    const name = new TextEncoder().encode((form[1] as List)[1]?.slice(1, -1) as string);
    return [...sized([...name]), kind, 0];
  };
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, ...sized(Array(params).fill(I32)), 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...unsigned(Number(memory[2]))]),
    ...section(7, [2, ...exported(memory, 2), ...exported(code, 0)]),
    ...section(10, [1, ...sized([...locals, ...body, END])]),
  ]);
}

/** `labels`: those around it, the innermost first. */
function instruction([name, ...rest]: List, names: readonly string[], labels: readonly string[]): number[] {
  const all = (forms: List, inside = labels) => forms.flatMap((form) => instruction(form as List, names, inside));
  const [first, ...others] = rest;
  switch (name) {
    case "local.get":
      return [0x20, ...unsigned(names.indexOf(first as string))];
    case "local.set":
      return [...all(others), 0x21, ...unsigned(names.indexOf(first as string))];
    case "i32.const":
      return [0x41, ...signed(Number(first))];
    case "f32.const":
      return [0x43, ...new Uint8Array(Float32Array.of(Number(first)).buffer)];
    case "f64.const":
      return [0x44, ...new Uint8Array(Float64Array.of(Number(first)).buffer)];
    case "i8x16.shuffle":
      return [...all(rest.slice(LANES)), SIMD, 0x0d, ...rest.slice(0, LANES).map(Number)];
    case "br":
      return [0x0c, ...unsigned(labels.indexOf(first as string))];
    case "br_if":
      return [...all(others), 0x0d, ...unsigned(labels.indexOf(first as string))];
    case "block":
    case "loop":
      return [name === "block" ? 0x02 : 0x03, VOID, ...all(others, [first as string, ...labels]), END];
    case "if": {
      const [, ...then] = others[0] as List;
      return [...all([first as List]), 0x04, VOID, ...all(then, ["", ...labels]), END];
    }
    default: {
      const opcode = PLAIN[name as string];
      if (opcode === undefined) throw new Error(`the assembler does not know ${JSON.stringify(name)}`);
      const [, offset] = /^offset=(\d+)$/.exec(typeof first === "string" ? first : "") ?? [];
      if (offset === undefined) return [...all(rest), ...opcode];
      return [...all(others), ...opcode.slice(0, -1), ...unsigned(Number(offset))];
    }
  }
}

function parse(text: string): List {
  const words = text.replace(/;;.*$/gm, "").match(/[()]|"[^"]*"|[^\s()"]+/g) ?? [];
  const stack: List[] = [[]];
  for (const word of words) {
    if (word === "(") stack.push([]);
    else if (word === ")") {
      const done = stack.pop() as List;
      stack.at(-1)?.push(done);
    } else stack.at(-1)?.push(word);
  }
  return stack[0] as List;
}

const section = (id: number, bytes: number[]) => [id, ...sized(bytes)];
const sized = (bytes: number[]) => [...unsigned(bytes.length), ...bytes];

/** LEB128. */
function unsigned(value: number): number[] {
  if (!(value >= 0)) throw new Error("a name that is not declared");
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

const signed = (value: number): number[] =>
  value >= -64 && value < 64 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
