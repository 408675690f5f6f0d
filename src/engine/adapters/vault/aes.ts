/** AES-256-GCM with keys of 32 bytes. A key is known by the first bytes of its SHA-256. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { integrity, invalid } from "../../domain/errors.ts";
import { partsOfSealed, sealedText } from "../../domain/sealed.ts";
import type { Vault } from "./port.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const keyId = (key: Uint8Array): string => createHash("sha256").update(key).digest("hex").slice(0, 8);

/** In hex or base64; never told in an error. */
function readKey(text: string): Buffer {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  if (key.length !== KEY_BYTES)
    throw invalid(
      "encryption_key",
      "a key of encryption must be 32 bytes in base64 or hex; make one with: openssl rand -base64 32",
    );
  return key;
}

/** Keys separated by blanks, commas or lines: the first encrypts, the others still decrypt. */
export function openVault(text: string): Vault {
  const keys = text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map(readKey);
  const [first] = keys;
  if (first === undefined) throw invalid("encryption_key", "there is no key of encryption in it.");
  const byId = new Map(keys.map((key) => [keyId(key), key]));
  const current = keyId(first);
  return {
    current,
    known: [...byId.keys()],
    seal(plain, tenant) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", first, nonce).setAAD(boundTo(current, tenant));
      const bytes = Buffer.concat([nonce, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return sealedText(current, bytes.toString("base64url"));
    },
    open(sealed, tenant) {
      const parts = partsOfSealed(sealed);
      const key = parts === undefined ? undefined : byId.get(parts.keyId);
      if (parts === undefined || key === undefined) return undefined;
      try {
        const bytes = Buffer.from(parts.bytes, "base64url");
        const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES))
          .setAAD(boundTo(parts.keyId, tenant))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()]).toString("utf8");
      } catch (error) {
        throw integrity(
          "an encrypted fact was changed in the store, or moved to another tenant: restore it from a backup.",
          error,
        );
      }
    },
  };
}

const boundTo = (id: string, tenant: string): Buffer => Buffer.from(`butler-memory ${id} ${tenant}`, "utf8");
