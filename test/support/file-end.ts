/** What the tests of one file share and open when it is first needed: it is closed when the file is done. Modules may be shared by several files. */
import { afterAll } from "vitest";

const closers: (() => Promise<unknown>)[] = [];

export function closeWithFile(close: () => Promise<unknown>): void {
  closers.push(close);
}

/** To be called while tests are being collected, by what the file's suites are made with. */
export function closeSharedAtEnd(): void {
  afterAll(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });
}
