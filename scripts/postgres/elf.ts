/**
 * Points one imported function of a shared library at another name and version. The prebuilt pgvector asks for
 * `__isoc23_strtol@GLIBC_2.38`, which Debian 12 (glibc 2.36) lacks; `strtol@GLIBC_2.2.5` is the same function without
 * C23's `0b` prefix and is found in every x86-64 glibc. Nothing moves in the file: the new name must already be in the
 * string table (here it is the tail of the old one), and the version record is rewritten in place.
 */
interface Import {
  readonly name: string;
  readonly version: string;
}

interface Section {
  readonly offset: number;
  readonly size: number;
}

interface VersionRecord {
  readonly at: number;
  readonly library: string;
  readonly version: string;
  readonly index: number;
}

const SYMBOL_SIZE = 24;
const UNDEFINED_SECTION = 0;
/** The top bit of a version index says "hidden"; the rest is the index. */
const INDEX_MASK = 0x7fff;

export function retargetImport(original: Buffer, from: Import, to: Import): Buffer {
  const elf = Buffer.from(original);
  const sections = readSections(elf);
  const section = (name: string) => {
    const found = sections.get(name);
    if (found === undefined) throw new Error(`The library has no ${name} section`);
    return found;
  };
  const symbols = section(".dynsym");
  const strings = section(".dynstr");
  const versions = section(".gnu.version");
  const records = readVersionRecords(elf, section(".gnu.version_r"), strings);

  const symbol = findImport(elf, symbols, strings, from.name);
  const versionAt = versions.offset + symbol * 2;
  const index = elf.readUInt16LE(versionAt) & INDEX_MASK;
  const old = records.find((record) => record.index === index);
  if (old === undefined || old.version !== from.version)
    throw new Error(`${from.name} is imported at version ${old?.version ?? "none"}, not ${from.version}`);
  const target = records.find((record) => record.library === old.library && record.version === to.version);
  if (target === undefined) throw new Error(`${old.library} is not asked for ${to.version}`);

  // Rewriting the old record while another symbol still refers to it would silently change that symbol's version.
  for (let i = 0; i < versions.size / 2; i++)
    if (i !== symbol && (elf.readUInt16LE(versions.offset + i * 2) & INDEX_MASK) === index)
      throw new Error(`Another symbol also needs ${from.version}`);

  const name = elf.subarray(strings.offset, strings.offset + strings.size).indexOf(`${to.name}\0`, 0, "latin1");
  if (name < 0) throw new Error(`The library's string table has no ${to.name}`);

  elf.writeUInt32LE(name, symbols.offset + symbol * SYMBOL_SIZE);
  elf.writeUInt16LE(target.index, versionAt);
  // The loader checks every record, used or not, so the old one becomes a second copy of the target: hash and name.
  elf.copyWithin(old.at, target.at, target.at + 4);
  elf.copyWithin(old.at + 8, target.at + 8, target.at + 12);
  return elf;
}

function readSections(elf: Buffer): Map<string, Section> {
  if (elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 2 || elf[5] !== 1)
    throw new Error("Not a 64-bit little-endian ELF file");
  const table = Number(elf.readBigUInt64LE(0x28));
  const entrySize = elf.readUInt16LE(0x3a);
  const count = elf.readUInt16LE(0x3c);
  const header = (i: number) => {
    const at = table + i * entrySize;
    return {
      name: elf.readUInt32LE(at),
      offset: Number(elf.readBigUInt64LE(at + 0x18)),
      size: Number(elf.readBigUInt64LE(at + 0x20)),
    };
  };
  const names = header(elf.readUInt16LE(0x3e));
  const sections = new Map<string, Section>();
  for (let i = 0; i < count; i++) {
    const { name, offset, size } = header(i);
    sections.set(text(elf, names.offset + name), { offset, size });
  }
  return sections;
}

function readVersionRecords(elf: Buffer, needed: Section, strings: Section): VersionRecord[] {
  const records: VersionRecord[] = [];
  let library = needed.offset;
  for (;;) {
    const libraryName = text(elf, strings.offset + elf.readUInt32LE(library + 4));
    let at = library + elf.readUInt32LE(library + 8);
    for (let left = elf.readUInt16LE(library + 2); left > 0; left--) {
      records.push({
        at,
        library: libraryName,
        version: text(elf, strings.offset + elf.readUInt32LE(at + 8)),
        index: elf.readUInt16LE(at + 6) & INDEX_MASK,
      });
      at += elf.readUInt32LE(at + 12);
    }
    const next = elf.readUInt32LE(library + 12);
    if (next === 0) return records;
    library += next;
  }
}

function findImport(elf: Buffer, symbols: Section, strings: Section, name: string): number {
  for (let i = 0; i < symbols.size / SYMBOL_SIZE; i++) {
    const at = symbols.offset + i * SYMBOL_SIZE;
    if (elf.readUInt16LE(at + 6) === UNDEFINED_SECTION && text(elf, strings.offset + elf.readUInt32LE(at)) === name)
      return i;
  }
  throw new Error(`The library does not import ${name}`);
}

function text(elf: Buffer, at: number): string {
  return elf.toString("latin1", at, elf.indexOf(0, at));
}
