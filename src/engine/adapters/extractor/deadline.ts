/** One abort signal for everything that may end an extraction: its caller, its timeout, the closing of the extractor. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** What ended it, in words. */
  readonly why: () => string;
  readonly release: () => void;
}

/**
 * Not made with `AbortSignal.any` and `AbortSignal.timeout`: in Node 20 a composite signal that only a pending request refers to
 * can be garbage-collected, and then it never fires.
 */
export function deadline(timeoutMs: number, caller: AbortSignal, closing: AbortSignal): Deadline {
  const control = new AbortController();
  let why = "it was aborted";
  const end = (words: string) => {
    if (control.signal.aborted) return;
    why = words;
    control.abort();
  };
  const onCaller = () => end("it was aborted");
  const onClosing = () => end("the extractor was closed");
  const timer = setTimeout(() => end(`there was no answer within ${timeoutMs} ms`), timeoutMs);
  caller.addEventListener("abort", onCaller);
  closing.addEventListener("abort", onClosing);
  if (caller.aborted) onCaller();
  if (closing.aborted) onClosing();
  return {
    signal: control.signal,
    why: () => why,
    release: () => {
      clearTimeout(timer);
      caller.removeEventListener("abort", onCaller);
      closing.removeEventListener("abort", onClosing);
    },
  };
}
