/** Functions in WebAssembly, for what JavaScript has no instruction: each is assembled from a text beside it, and a pure test holds them together. */

/** Part of the language's own environment, like Math; its types come only with a browser's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => unknown;
  readonly Instance: new (module: unknown) => { readonly exports: unknown };
};

export interface Assembly {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
}

const PAGE = 65_536;
const modules = new Map<string, unknown>();

/** Each with a memory of its own. */
export function instanceOf<T extends Assembly>(assembled: string): T {
  const module =
    modules.get(assembled) ?? new WebAssembly.Module(Uint8Array.from(atob(assembled), (char) => char.charCodeAt(0)));
  modules.set(assembled, module);
  return new WebAssembly.Instance(module).exports as T;
}

/** Makes room for so many bytes; all views of the memory end when it grows. */
export function growTo({ memory }: Assembly, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}
