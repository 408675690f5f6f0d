/** The model is sound when its files have the right bytes and the vectors of two sentences are as close as they should be. */

import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import type { ModelVariant } from "../../engine/adapters/model/catalogue.ts";
import { locateModel } from "../../engine/adapters/model/files.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import type { ModelFolders } from "../wiring/models.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const PAIR = ["A man is eating food.", "A man is eating a piece of bread."] as const;
/** Measured: 0.755 with fp32 and 0.757 with int8. */
const COSINE = 0.756;
const TOLERANCE = 0.02;

export async function checkModel(folders: ModelFolders, variant: ModelVariant): Promise<Finding> {
  const check = `model ${variant}`;
  try {
    const files = await locateModel({ ...folders, variant });
    if (!files) return warn(check, "not on this disk: search goes by keywords only", "butler model pull");
    const embedder = await openOnnxEmbedder(files);
    try {
      const { vector: a } = await embedder.embed(PAIR[0], "query");
      const { vector: b } = await embedder.embed(PAIR[1], "query");
      const cosine = a.reduce((sum, x, index) => sum + x * (b[index] ?? 0), 0);
      const found = `${files.weights}; the test pair comes out at ${cosine.toFixed(3)}`;
      if (Math.abs(cosine - COSINE) <= TOLERANCE) return ok(check, found);
      return fail(
        check,
        `${found} instead of ${COSINE}`,
        "This processor or runtime computes wrong vectors: reinstall onnxruntime-node.",
      );
    } finally {
      await embedder.close();
    }
  } catch (error) {
    return fail(check, reasonOf(error), "butler model pull replaces what is damaged in the cache.");
  }
}
