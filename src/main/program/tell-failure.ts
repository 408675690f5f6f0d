/** A failure of a call, told as every command tells it: as JSON on the standard output, else in words beside it. */
import { renderError } from "../../doors/cli/render.ts";
import { type ExitCode, exitCode } from "../../doors/failures.ts";
import type { Context } from "./command.ts";

export function tellFailure(
  failure: Parameters<typeof renderError>[0],
  json: boolean,
  { environment, say, note }: Context,
): ExitCode {
  const options = { json, colour: environment.colour && process.stderr.isTTY === true };
  if (json) say(renderError(failure, options));
  else note(renderError(failure, options));
  return exitCode(failure.code);
}
