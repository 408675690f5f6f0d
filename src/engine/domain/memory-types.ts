export const MEMORY_TYPES = ["episode", "fact", "rule"] as const;
export type MemoryType = (typeof MEMORY_TYPES)[number];

export const RELATIONS = ["derived_from", "supports", "contradicts", "supersedes", "related_to"] as const;
export type Relation = (typeof RELATIONS)[number];

export const CONSOLIDATION = ["pending", "consolidated", "failed", "dead_letter"] as const;
export type Consolidation = (typeof CONSOLIDATION)[number];
