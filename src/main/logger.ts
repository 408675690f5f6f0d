import { pino } from "pino";
import type { Log } from "../engine/adapters/log.ts";
import type { LogLevel } from "./environment.ts";

/** To stderr always: stdout belongs to answers and to the MCP protocol. */
export function stderrLog(level: LogLevel): Log {
  return pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
}
