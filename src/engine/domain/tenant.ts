/**
 * Tenants are told apart by their names, character for character. A name that reads like another one (an invisible character, another way to write
 * an accent, a blank at its end), or that a header or a setting of the database cannot carry, is refused where it is first given.
 */
const MOST = 64;

/** What is wrong with the name, as the end of a sentence that begins with "A tenant's name"; undefined when it may be used. */
export function tenantFault(name: string): string | undefined {
  if (name === "" || name.length > MOST) return `has between 1 and ${MOST} characters`;
  if (/\p{C}|[\p{Zl}\p{Zp}]/u.test(name)) return "has no control characters and none that cannot be seen";
  if (name.trim() !== name) return "neither begins nor ends with a blank";
  if (name.normalize("NFC") !== name) return "is written in composed characters (NFC)";
  return undefined;
}

export const isTenantName = (name: string): boolean => tenantFault(name) === undefined;
