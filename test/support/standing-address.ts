/** One address on this machine before several servers, as a virtual address or a proxy is before a primary and its replica. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface StandingAddress {
  readonly port: number;
  /** From now on connections go there; those of before are cut. */
  point(port: number): void;
  close(): Promise<void>;
}

export async function standingAddress(first: number): Promise<StandingAddress> {
  const sockets = new Set<Socket>();
  let to = first;
  const server = createServer((socket) => {
    const far = connect(to, "127.0.0.1");
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    point(port) {
      to = port;
      cut();
    },
    async close() {
      if (!server.listening) return;
      const closed = new Promise((done) => server.close(done));
      cut();
      await closed;
    },
  };
}
