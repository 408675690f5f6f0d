/** What was told to the memory besides the sessions of the story: facts, rules with their marks, and prompts that it answered. */
import type { Trust } from "../../../../engine/domain/learning/trust.ts";
import type { Permanence } from "../../../../engine/domain/lifecycle/decay.ts";
import type { Project } from "./story.ts";

export interface ToldFact {
  readonly project: Project;
  readonly subject: string;
  readonly predicate: string;
  readonly content: string;
  readonly permanence: Permanence;
  readonly importance?: number;
  readonly confidence?: number;
  readonly tags?: readonly string[];
  /** Its session, whose first episode is its source. */
  readonly from?: string;
  readonly fromDaysAgo?: number;
  readonly toDaysAgo?: number;
  /** Who says it; the person if left out. */
  readonly by?: Trust;
  readonly later?: "confirmed" | "forgotten";
}

/** In this order: a later one of the same subject and predicate supersedes the earlier, or contradicts it if an agent says it. */
export const FACTS: readonly ToldFact[] = [
  {
    project: "kassa",
    subject: "kassa",
    predicate: "is",
    content:
      "The till backend of a small chain of shops: a Fastify API, PostgreSQL, and a worker that reports to the tax office.",
    permanence: "permanent",
    importance: 9,
    from: "example-kassa-1",
    later: "confirmed",
  },
  {
    project: "kassa",
    subject: "kassa",
    predicate: "taken over from",
    content: "Jonas, who wrote it; Mira works on it since then.",
    permanence: "permanent",
    fromDaysAgo: 20,
    tags: ["people"],
  },
  {
    project: "kassa",
    subject: "kassa",
    predicate: "hosted at",
    content: "one virtual machine in Vienna",
    permanence: "stable",
    importance: 7,
    fromDaysAgo: 20,
    tags: ["ops"],
  },
  {
    project: "kassa",
    subject: "kassa",
    predicate: "hosted at",
    content: "two virtual machines in Vienna, behind a load balancer",
    permanence: "stable",
    importance: 7,
    fromDaysAgo: 13,
    tags: ["ops"],
  },
  {
    project: "kassa",
    subject: "kassa",
    predicate: "hosted at",
    content: "Kubernetes in Frankfurt, three nodes",
    permanence: "stable",
    importance: 8,
    fromDaysAgo: 3,
    tags: ["ops"],
    later: "confirmed",
  },
  {
    project: "kassa",
    subject: "tax office",
    predicate: "longest idempotency key",
    content: "32 characters; longer ones are refused with status 422",
    permanence: "stable",
    importance: 8,
    from: "example-kassa-3",
    tags: ["tax-office"],
  },
  {
    project: "kassa",
    subject: "tax office",
    predicate: "answers within",
    content: "10 seconds",
    permanence: "standard",
    from: "example-kassa-3",
    tags: ["tax-office"],
  },
  {
    project: "kassa",
    subject: "tax office",
    predicate: "answers within",
    content: "2 seconds, measured on one quiet afternoon",
    permanence: "standard",
    by: "agent",
    tags: ["tax-office"],
  },
  {
    project: "kassa",
    subject: "releases",
    predicate: "approved by",
    content: "Petra, head of operations",
    permanence: "standard",
    importance: 7,
    from: "example-kassa-4",
    tags: ["release", "people"],
    later: "confirmed",
  },
  {
    project: "kassa",
    subject: "next release",
    predicate: "version",
    content: "4.13, with the new refunds",
    permanence: "volatile",
    fromDaysAgo: 2,
    tags: ["release"],
  },
  {
    project: "kassa",
    subject: "staging",
    predicate: "state",
    content: "down for maintenance until this evening",
    permanence: "ephemeral",
    importance: 3,
    fromDaysAgo: 1,
  },
  {
    project: "kassa",
    subject: "staging",
    predicate: "database copy from",
    content: "last Sunday's backup",
    permanence: "volatile",
    confidence: 0.6,
    by: "agent",
  },
  {
    project: "kassa",
    subject: "spring campaign",
    predicate: "discount",
    content: "10 % on everything in the shop in Graz",
    permanence: "volatile",
    fromDaysAgo: 20,
    toDaysAgo: 7,
  },
  {
    project: "kassa",
    subject: "article import",
    predicate: "takes",
    content: "6 seconds for 60,000 articles",
    permanence: "standard",
    from: "example-kassa-6",
  },
  {
    project: "kassa",
    subject: "article 88121",
    predicate: "tax class",
    content: "missing; the import refuses it",
    permanence: "volatile",
    later: "forgotten",
  },
  {
    project: "kassa",
    subject: "opening hours",
    predicate: "graz",
    content: "until 20:00 instead of 19:00",
    permanence: "stable",
    fromDaysAgo: -14,
  },
  {
    project: "labels",
    subject: "labels",
    predicate: "is",
    content: "A service that prints shelf labels from the articles of kassa.",
    permanence: "permanent",
    importance: 8,
    from: "example-labels-1",
  },
  {
    project: "labels",
    subject: "label printer",
    predicate: "model",
    content: "Zebra ZD421, one in each shop",
    permanence: "stable",
    from: "example-labels-1",
    tags: ["printers"],
  },
  {
    project: "labels",
    subject: "label printer",
    predicate: "encoding",
    content: "UTF-8, switched on with ^CI28",
    permanence: "standard",
    from: "example-labels-2",
    tags: ["printers"],
  },
  {
    project: "labels",
    subject: "label size",
    predicate: "linz",
    content: "57 × 32 mm",
    permanence: "standard",
    fromDaysAgo: 16,
    tags: ["printers"],
  },
  {
    project: "labels",
    subject: "label size",
    predicate: "linz",
    content: "38 × 25 mm",
    permanence: "standard",
    from: "example-labels-3",
    tags: ["printers"],
  },
];

export interface ToldRule {
  readonly project: Project;
  readonly content: string;
  readonly tags?: readonly string[];
  readonly from?: string;
  /** Marks: each in a session of its own. A rule is established after five helpful ones, and a warning after three harmful ones. */
  readonly helpful: number;
  readonly harmful: number;
  readonly note?: string;
  readonly reason?: string;
}

export const RULES: readonly ToldRule[] = [
  {
    project: "kassa",
    content: "Run pnpm test before every commit, and commit nothing while a test is red.",
    from: "example-kassa-1",
    tags: ["setup"],
    helpful: 16,
    harmful: 0,
    note: "A broken closing was found before it was pushed.",
  },
  {
    project: "kassa",
    content: "Try a migration on a copy of the production database before it goes to the tills.",
    from: "example-kassa-2",
    tags: ["migrations"],
    helpful: 7,
    harmful: 1,
    note: "The copy showed a missing index.",
    reason: "The copy was two weeks old and hid the fault.",
  },
  {
    project: "kassa",
    content: "Refuse an article that has no tax class instead of taking a standard rate.",
    tags: ["tax-office"],
    helpful: 2,
    harmful: 0,
    note: "The tax office found nothing to complain about.",
  },
  {
    project: "kassa",
    content: "Restart the payment worker when its queue grows.",
    from: "example-kassa-7",
    tags: ["incident"],
    helpful: 1,
    harmful: 3,
    note: "The queue was empty a minute later.",
    reason: "The restart booked two payments twice.",
  },
  {
    project: "labels",
    content: "Print one label in Linz and look at it before all shops get a new template.",
    from: "example-labels-2",
    tags: ["printers"],
    helpful: 5,
    harmful: 0,
    note: "The umlauts were wrong on the first one.",
  },
  {
    project: "labels",
    content: "Keep every template below 8 KB, or the older printers drop it.",
    tags: ["printers"],
    helpful: 0,
    harmful: 1,
    reason: "The limit is gone since the last firmware.",
  },
];

export interface Lesson {
  readonly subject: string;
  readonly predicate: string;
  readonly content: string;
  readonly permanence: Permanence;
  /** Words of the episode that says so. */
  readonly said: string;
  /** The subject and predicate of a known fact that cannot be true beside it. */
  readonly against?: readonly [subject: string, predicate: string];
}

/** What an agent learned from the episodes of `labels`; those of `kassa` are read by the butler's own reader. */
export const LESSONS: {
  readonly project: Project;
  readonly facts: readonly Lesson[];
  readonly rule: string;
  readonly ruled: string;
} = {
  project: "labels",
  facts: [
    {
      subject: "labels",
      predicate: "deployed with",
      content: "make ship, from the main branch",
      permanence: "stable",
      said: "make ship",
    },
    {
      subject: "printer in linz",
      predicate: "model",
      content: "GK420, an older one",
      permanence: "standard",
      said: "GK420",
      against: ["label printer", "model"],
    },
  ],
  rule: "Send the label printers ZPL, never a PDF.",
  ruled: "speak ZPL",
};

/** Prompts of sessions that were helped by the memory: what is told counts as recalled. */
export const PROMPTS: readonly { readonly project: Project; readonly prompt: string }[] = [
  { project: "kassa", prompt: "Prepare the next release of kassa and tell me who has to approve it" },
  { project: "kassa", prompt: "Where is kassa hosted, and how do I restart the payment worker?" },
  { project: "kassa", prompt: "Send the closing of Graz to the tax office again" },
  { project: "labels", prompt: "Add a label template for the shop in Linz" },
];
