/**
 * The names in the Host header of a request that the port accepts: this machine's own, what the port is bound to, and those that the operator
 * has listed, because a service of a cluster or a proxy has a name that no process behind it can know.
 */
import { hostname, networkInterfaces } from "node:os";
import { loopbackHosts } from "../../doors/http/guards.ts";
import type { Environment } from "../environment.ts";

const EVERYWHERE = new Set(["0.0.0.0", "::"]);

export function hostNames({ host, allowedHosts }: Pick<Environment, "host" | "allowedHosts">, port: number): string[] {
  const names = [...loopbackHosts(port), inHeader(host), ...allowedHosts];
  if (!EVERYWHERE.has(host)) return names;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [...names, hostname(), ...addresses.map(({ address }) => inHeader(address))];
}

/** An address of IPv6 stands in brackets there. */
const inHeader = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);
