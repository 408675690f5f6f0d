/**
 * Loaded before the processes under test: the two seconds that a host waits for its memory, the owner's shares of them, and the half
 * minute in which a client finds or starts an owner, last fifteen times as long. What a busy machine does slowly is then still done in
 * time; a test about somebody who never answers asks for real time.
 *
 * WebAssembly is compiled by the quick compiler alone: optimising the embedded store takes a third of the CPU time of a process that lives
 * for seconds (an owner's start: 2.1 s with it, 1.45 without).
 */
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--liftoff-only");

const FACTOR = 15;
const command = process.argv[2] ?? "";
const isHost = ["run", "hook"].includes(command);
/** An owner's jobs and a benchmark's measurements keep the clock. */
const isClient = !["own", "up", "bench"].includes(command);
/** An owner leaves after two seconds without work, and that stays as it is. */
const isShare = (ms) => ms > 1_000 && (isHost ? ms <= 2_000 : ms < 2_000);
/** What is left of a deadline on the client's slow clock. */
const isPatience = (ms) => isClient && ms >= 10_000;
const stretched = (ms) => (isShare(ms) || isPatience(ms) ? ms * FACTOR : ms);

const realTimeout = globalThis.setTimeout;
globalThis.setTimeout = Object.assign(
  (work, ms, ...more) => realTimeout(work, stretched(ms), ...more),
  // `util.promisify` asks for it.
  Object.fromEntries(Object.getOwnPropertySymbols(realTimeout).map((key) => [key, realTimeout[key]])),
);

const realSignal = AbortSignal.timeout;
AbortSignal.timeout = (ms) => realSignal.call(AbortSignal, stretched(ms));

if (isClient) {
  const realNow = performance.now.bind(performance);
  performance.now = () => realNow() / FACTOR;
}
