/** The runs of a quality benchmark: which stores are built, which questions each is asked, and the reports. */
import { basename } from "node:path";
import type { ModelFiles } from "../../engine/adapters/model/files.ts";
import type { Mode } from "../../engine/memory/recall/retrieve.ts";
import type { Settings } from "../../engine/memory/settings.ts";
import type { Progress } from "../../main/words/progress.ts";
import { type Asking, askAll } from "./ask.ts";
import type { DataSet } from "./data.ts";
import { refusedIn, type Unit } from "./fill.ts";
import { differenceOf, gather, type QualityRun, reportOf } from "./report.ts";
import { type Plan, type Site, withStore } from "./stores.ts";
import { FULL, type Variant } from "./variants.ts";

/** A data set and the hash of its file: a kept store is used again only for the very same text. */
export interface Source {
  readonly data: DataSet;
  readonly sha256: string;
}

export interface Bench {
  readonly site: Site;
  readonly sources: readonly Source[];
  readonly settings: Settings;
  readonly mode: Mode | undefined;
  readonly variants: readonly Variant[];
  /** Puts all corpora into one store; with a single variant the result is compared with one store for each corpus. */
  readonly pool: boolean;
  readonly distractors: number;
  readonly progress: Progress;
}

type Answers = ReadonlyMap<Variant, ReadonlyMap<DataSet, Asking>>;

/** A run for every variant and data set, the full recipe first. */
export async function measure(bench: Bench): Promise<QualityRun[]> {
  const { pool, distractors, variants } = bench;
  const plans = pool ? [pooled(bench.sources, distractors)] : bench.sources.flatMap(onePerCorpus);
  const main = await ask(bench, plans);
  const alone = pool && variants.length === 1 ? await ask(bench, bench.sources.flatMap(onePerCorpus)) : undefined;
  const total = bench.sources.reduce((sum, { data }) => sum + memoriesOf(data), 0);
  return variants.flatMap((variant) =>
    bench.sources.map(({ data }) => {
      const answers = answersOf(main.answers, variant, data);
      const report = reportOf(data, answers, {
        variant: variant.name,
        rerank: settingsOf(bench, variant).retrieval.rerank,
        store: bench.site.databaseUrl === undefined ? "pglite" : "postgres",
        model: described(bench.site.model),
        index: pool
          ? { kind: "pool", memories: total, distractors }
          : { kind: "per corpus", memories: memoriesOf(data), distractors: 0 },
        ...(main.refused.get(data) ?? { refused: 0, why: undefined }),
      });
      const full = answersOf(main.answers, FULL, data);
      return {
        ...report,
        ...(variant === FULL ? {} : { difference: differenceOf(full.asked, answers.asked) }),
        ...(alone === undefined ? {} : { alone: aloneOf(report, data, answersOf(alone.answers, variant, data)) }),
      };
    }),
  );
}

function aloneOf(report: QualityRun, data: DataSet, answers: Asking): NonNullable<QualityRun["alone"]> {
  const { variant, rerank, store, model, index } = report;
  const { recall_frac, ndcg10, mrr } = reportOf(data, answers, {
    ...{ variant, rerank, store, model, index },
    ...{ refused: 0, why: undefined },
  });
  return { recall_frac, ndcg10, mrr };
}

const memoriesOf = (data: DataSet) => data.corpora.reduce((sum, corpus) => sum + corpus.memories.length, 0);

const described = (model: ModelFiles | undefined) =>
  model === undefined
    ? null
    : {
        name: `${model.version.model} ${model.version.variant}`,
        file: basename(model.weights),
        sha256: model.version.sha256,
      };

function answersOf(answers: Answers, variant: Variant, data: DataSet): Asking {
  const found = answers.get(variant)?.get(data);
  if (found === undefined) throw new Error(`nothing was asked of ${data.file}`);
  return found;
}

const settingsOf = ({ settings }: Bench, { change }: Variant) => change.settings?.(settings) ?? settings;

async function ask(bench: Bench, plans: readonly Plan[]) {
  const parts: { variant: Variant; data: DataSet; asking: Asking }[] = [];
  const refused = new Map<DataSet, { refused: number; why: string | undefined }>();
  const { progress, sources } = bench;
  for (const plan of plans)
    await withStore(bench.site, plan, progress.show, async ({ filled, use }) => {
      const asked = sources
        .map(({ data }) => ({ data, units: plan.units.filter((unit) => data.corpora.includes(unit.corpus)) }))
        .filter(({ units }) => units.length > 0);
      for (const { data, units } of asked) {
        const before = refused.get(data) ?? { refused: 0, why: undefined };
        const more = refusedIn(filled, units);
        refused.set(data, {
          refused: before.refused + more,
          why: before.why ?? (more > 0 ? filled.why : undefined),
        });
      }
      for (const variant of bench.variants) {
        const { recipe, noModel = false } = variant.change;
        const opening = { settings: settingsOf(bench, variant), recipe, noModel };
        await use(opening, async (memory) => {
          for (const { data, units } of asked) {
            const what = `${plan.label}: asking${variant === FULL ? "" : ` (${variant.name})`}`;
            const show = (done: number, total: number) => progress.show(done, total, what);
            const mode = variant.change.mode ?? bench.mode;
            parts.push({ variant, data, asking: await askAll(memory, units, filled, mode, show) });
          }
        });
      }
    });
  const of = (variant: Variant, data: DataSet) =>
    gather(parts.filter((part) => part.variant === variant && part.data === data).map((part) => part.asking));
  const answers = new Map(
    bench.variants.map((variant) => [variant, new Map(sources.map(({ data }) => [data, of(variant, data)]))]),
  );
  return { answers, refused };
}

function onePerCorpus({ data, sha256 }: Source): Plan[] {
  return data.corpora.map((corpus, index) => ({
    label: `${data.file} ${corpus.id}`,
    units: [unitOf(data, index, corpus.id)],
    distractors: 0,
    identity: `${sha256} ${index}`,
  }));
}

/** Two files may use the same names for their corpora: here sessions carry the file's name as well. */
function pooled(sources: readonly Source[], distractors: number): Plan {
  return {
    label: "everything",
    units: sources.flatMap(({ data }, at) =>
      data.corpora.map((corpus, index) => ({
        ...unitOf(data, index, sources.length === 1 ? corpus.id : `${data.file}/${corpus.id}`),
        key: `${at}/${index}`,
      })),
    ),
    distractors,
    identity: `pool ${sources.map(({ sha256 }) => sha256).join(" ")}`,
  };
}

function unitOf(data: DataSet, index: number, sessions: string): Unit {
  const corpus = data.corpora[index];
  if (corpus === undefined) throw new RangeError(`${data.file} has no corpus ${index}`);
  return { key: String(index), sessions, corpus };
}
