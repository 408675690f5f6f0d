/** The keys of encryption, from a file or the environment. */
import { readFileSync } from "node:fs";
import type { Log } from "../../engine/adapters/log.ts";
import { openVault } from "../../engine/adapters/vault/aes.ts";
import type { Vault } from "../../engine/adapters/vault/port.ts";
import { MemoryError, reasonOf, unavailable } from "../../engine/domain/errors.ts";
import type { Settings } from "../../engine/memory/settings.ts";

export type KeySettings = Pick<Settings["privacy"], "encryption_key_env" | "encryption_key_file">;

/** A key that cannot be read must not keep a memory from opening: what is encrypted says so when it is asked for. */
export function vaultOrWhyNot(settings: KeySettings, log: Log): Vault | undefined {
  try {
    return vaultOf(settings);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    log.warn({ reason: error.message }, "encrypted facts cannot be read or stored");
    return undefined;
  }
}

/** Undefined when neither is there. The file wins. */
export function vaultOf({ encryption_key_env: name, encryption_key_file: file }: KeySettings): Vault | undefined {
  const text = file === undefined ? process.env[name] : readKeys(file);
  return text === undefined || text.trim() === "" ? undefined : openVault(text);
}

function readKeys(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw unavailable(
      `the key of encryption cannot be read from ${file} (encryption_key_file): ${reasonOf(error)}. Put it back, or correct the path; without the key encrypted facts are lost.`,
    );
  }
}
