/** Whether what is encrypted can be read: the keys at hand, and those that facts were encrypted with. */
import type { ButlerConfig } from "../../daemon/config/config.ts";
import { MemoryError } from "../../engine/domain/errors.ts";
import { vaultOf } from "../wiring/vault.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** How many facts each key has encrypted, by its id; undefined where the store was not looked into. */
export type FactsByKey = readonly { readonly key: string; readonly facts: number }[];

const factsAre = (n: number): string => (n === 1 ? "1 fact is" : `${n} facts are`);

/** Nothing is said where nothing is encrypted. */
export function keyFindings({ name, memory }: ButlerConfig, stored: FactsByKey | undefined): Finding[] {
  const check = `key ${name}`;
  const { privacy } = memory;
  const place = privacy.encryption_key_file ?? `the variable ${privacy.encryption_key_env}`;
  const wanted = privacy.encrypt_predicates.length > 0;
  try {
    const vault = vaultOf(privacy);
    const lost = (stored ?? []).filter(({ key }) => !vault?.known.includes(key));
    if (lost.length > 0)
      return [
        fail(
          check,
          lost
            .map(({ key, facts }) => `${factsAre(facts)} encrypted with the key ${key}, which is not in ${place}`)
            .join("; "),
          "Put that key behind the present one; without it these facts are lost.",
        ),
      ];
    if (vault === undefined)
      return wanted
        ? [
            fail(
              check,
              `encrypt_predicates names predicates, and there is no key in ${place}`,
              "Make one with: openssl rand -base64 32, and keep a copy elsewhere. Until then such facts are refused.",
            ),
          ]
        : [];
    const older = (stored ?? []).filter(({ key }) => key !== vault.current).reduce((sum, { facts }) => sum + facts, 0);
    if (older > 0)
      return [
        warn(
          check,
          `${factsAre(older)} still encrypted with an older key than ${vault.current}`,
          `Run: butler job run rekey --butler ${name}`,
        ),
      ];
    const sum = stored?.reduce((total, { facts }) => total + facts, 0);
    return [ok(check, `${vault.current} from ${place}${sum === undefined ? "" : `; ${factsAre(sum)} encrypted`}`)];
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return [fail(check, error.message, "Until then encrypted facts can neither be read nor stored.")];
  }
}
