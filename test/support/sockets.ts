/** The sockets of a process as the kernel lists them (Linux). */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface Sockets {
  /** `127.0.0.1:8300`, the far end after a `>`; the address of a listener has nothing after it. */
  readonly network: readonly string[];
  /** Paths of unix sockets; an abstract name begins with `@`. The unnamed ones (a pair between two processes) are left out. */
  readonly unix: readonly string[];
  /** Neither of the network nor of unix: raw, packet and netlink sockets. */
  readonly others: number;
}

/** `0100007F:1F90` is 127.0.0.1:8080: each group of four bytes is in the order of the machine, which is little-endian here. */
function address(hex: string): string {
  const [host = "", port = ""] = hex.split(":");
  const bytes = (host.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const numbers = bytes.map((byte) => Number.parseInt(byte, 16));
  const name = numbers.length === 4 ? numbers.join(".") : Buffer.from(numbers).toString("hex");
  return `${name}:${Number.parseInt(port, 16)}`;
}

const rowsOf = (pid: number, table: string) =>
  readFileSync(`/proc/${pid}/net/${table}`, "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/));

function inodesOf(pid: number): Set<string> {
  const inodes = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // It was closed between the two looks.
    }
  }
  return inodes;
}

export function socketsOf(pid: number): Sockets {
  const left = inodesOf(pid);
  const network: string[] = [];
  for (const table of ["tcp", "tcp6", "udp", "udp6"]) {
    for (const [, local = "", far = "", , , , , , , inode = ""] of rowsOf(pid, table)) {
      if (!left.delete(inode)) continue;
      const listens = /^0+:0+$/.test(far);
      network.push(listens ? address(local) : `${address(local)}>${address(far)}`);
    }
  }
  const unix: string[] = [];
  for (const [, , , , , , inode = "", path] of rowsOf(pid, "unix")) {
    if (left.delete(inode) && path !== undefined) unix.push(path);
  }
  return { network, unix, others: left.size };
}
