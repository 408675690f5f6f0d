/** The embedding models of an owner: on this disk, or fetched. */
import { type ModelOnDisk, type SharedModel, sharedModel } from "../../daemon/owner/shared-model.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import type { ModelVersion } from "../../engine/adapters/embedder/port.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { MODEL_VARIANTS, type ModelVariant } from "../../engine/adapters/model/catalogue.ts";
import { locateModel, type ModelFiles } from "../../engine/adapters/model/files.ts";
import { type PullOptions, pullModel } from "../../engine/adapters/model/pull.ts";

export interface ModelFolders {
  readonly modelDir: string | undefined;
  readonly cacheDir: string;
}

/** The model that made older vectors, if its files are still on this disk; nothing is fetched for it. */
export const olderModel = (folders: ModelFolders, log: Log) => async (version: ModelVersion) => {
  const variant = MODEL_VARIANTS.find((name) => name === version.variant);
  const files = variant && (await locateModel({ ...folders, variant, log }));
  const same = files?.version.model === version.model && files.version.sha256 === version.sha256;
  return files && same ? openOnnxEmbedder(files, { log }) : undefined;
};

/** One model for each variant that some butler asks for. */
export function sharedModels(options: {
  folders: ModelFolders;
  fetch: boolean;
  /** In a process of its own, so that an owner at rest has all of its memory back. */
  apart?: boolean;
  log: Log;
}): (variant: ModelVariant) => SharedModel {
  const { folders, apart = false, log } = options;
  const models = new Map<ModelVariant, SharedModel>();
  const onDisk = (files: ModelFiles): ModelOnDisk => ({
    version: files.version,
    load: () => openOnnxEmbedder(files, { apart, log }),
  });

  function create(variant: ModelVariant): SharedModel {
    return sharedModel({
      log,
      locate: async () => {
        const files = await locateModel({ ...folders, variant, log });
        return files && onDisk(files);
      },
      pull: options.fetch ? async (signal) => onDisk(await fetchModel(folders, variant, { signal })) : undefined,
    });
  }
  return (variant) => {
    const model = models.get(variant) ?? create(variant);
    models.set(variant, model);
    return model;
  };
}

export function fetchModel(
  folders: ModelFolders,
  variant: ModelVariant,
  more: Pick<PullOptions, "signal" | "onProgress"> = {},
) {
  return pullModel({ variant, cacheDir: folders.cacheDir, ...more });
}
