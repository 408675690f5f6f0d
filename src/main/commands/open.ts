import { spawn } from "node:child_process";
import { z } from "zod";
import { homeAt } from "../../daemon/home.ts";
import { requestOwner } from "../../daemon/line/request.ts";
import { findOwner } from "../../daemon/owner/start-owner.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { CODE_PATH } from "../../doors/http/access/session-routes.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import { type Context, readOptions } from "../program/command.ts";

export const usage = `butler open [--reader] [--print] [--json]

Opens the pages in the browser, signed in: what is known, what was learned, why, and whether all is well. Needs a running butler up.
--reader signs in somebody who may look and change nothing; --print shows the address instead of opening it. The address works once, for a minute.`;

const ANSWER_MS = 10_000;
const Code = z.object({ code: z.string() });

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, {
    reader: { type: "boolean" },
    print: { type: "boolean" },
    json: { type: "boolean" },
  });
  const home = homeAt(environment.home);
  const note = await findOwner(home, ANSWER_MS);
  if (note === undefined || note.address === null)
    throw unavailable('The pages are served by "butler up" (npm start): start it, then try again.');
  const { json } = await requestOwner({
    socket: home.socket,
    method: "POST",
    path: CODE_PATH,
    body: values.reader === true ? { reader: true } : {},
    timeoutMs: ANSWER_MS,
  });
  const answer = Code.safeParse(json);
  if (!answer.success)
    throw unavailable('The running owner is of another build: "butler stop" ends it, then start it again.');
  const address = `${reachable(note.address)}/signin#${answer.data.code}`;
  const opened = values.print !== true && values.json !== true && (await openBrowser(address));
  if (values.json) say(JSON.stringify({ address }));
  else say(opened ? `Opened ${reachable(note.address)}/memory in the browser.` : address);
  return 0;
}

/** A server that listens on every address is reached on this machine by its own. */
const reachable = (address: string): string => address.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, "//127.0.0.1");

/** False where there is no browser to open, or no screen. */
async function openBrowser(address: string): Promise<boolean> {
  const command = browserCommand(process.platform, process.env);
  if (command === undefined) return false;
  const [name, ...args] = command;
  return new Promise((done) => {
    const child = spawn(name, [...args, address], { stdio: "ignore", detached: true });
    child.once("error", () => done(false));
    child.once("spawn", () => {
      child.unref();
      done(true);
    });
  });
}

function browserCommand(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly [string, ...string[]] | undefined {
  if (platform === "darwin") return ["open"];
  // `start` takes its first quoted argument for a title.
  if (platform === "win32") return ["cmd", "/c", "start", '""'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open"] : undefined;
}
