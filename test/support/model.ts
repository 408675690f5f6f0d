import { fileURLToPath } from "node:url";
import type { ModelVariant } from "../../src/engine/adapters/model/catalogue.ts";
import type { ModelFiles } from "../../src/engine/adapters/model/files.ts";
import { pullModel } from "../../src/engine/adapters/model/pull.ts";

/** Shared by all test runs and ignored by git: the first run downloads 20 MB. */
export const TEST_MODEL_CACHE = fileURLToPath(new URL("../../.cache/models", import.meta.url));

const pulls = new Map<ModelVariant, Promise<ModelFiles>>();

export function testModel(variant: ModelVariant = "int8"): Promise<ModelFiles> {
  const pull = pulls.get(variant) ?? pullModel({ variant, cacheDir: TEST_MODEL_CACHE });
  pulls.set(variant, pull);
  return pull;
}
