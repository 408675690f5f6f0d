/** Encrypts and decrypts texts. What was encrypted for one tenant cannot be decrypted for another. */
export interface Vault {
  /** The id of the key that encrypts. */
  readonly current: string;
  /** The ids of all keys at hand. */
  readonly known: readonly string[];
  seal(text: string, tenant: string): string;
  /** The text, or undefined when there is no key of that id. Throws when the text was changed or is another tenant's. */
  open(sealed: string, tenant: string): string | undefined;
}
