/**
 * Three weeks of an invented shop, as data: what was said in sessions of two projects. Everything belongs to a project, so that no agent is
 * ever told of it elsewhere. Days count back from the day on which the story is told.
 */
export const PROJECTS = { kassa: "example.com/shop/kassa", labels: "example.com/shop/labels" } as const;
export type Project = keyof typeof PROJECTS;

export interface Session {
  readonly id: string;
  readonly project: Project;
  readonly daysAgo: number;
  /** Of the first exchange, UTC; the others follow ten minutes apart. */
  readonly at: string;
  readonly tags: readonly string[];
  /** Each is one episode: a prompt and what came of it. */
  readonly exchanges: readonly string[];
}

export const SESSIONS: readonly Session[] = [
  {
    id: "example-kassa-1",
    project: "kassa",
    daysAgo: 20,
    at: "09:20",
    tags: ["setup"],
    exchanges: [
      "User: We use pnpm in this repository, never npm. Install everything and get the tests running.\nAgent: The dependencies are in. One suite fails because no database answers.\nDid: pnpm install; pnpm test\nFailed: connect ECONNREFUSED 127.0.0.1:5433",
      "User: The test database listens on port 5433. Start it with docker compose up -d testdb.\nAgent: It is up, and all 41 files pass.\nDid: docker compose up -d testdb; pnpm test",
    ],
  },
  {
    id: "example-kassa-2",
    project: "kassa",
    daysAgo: 17,
    at: "10:05",
    tags: ["migrations", "correction"],
    exchanges: [
      "User: Rename the column till_no to till_number everywhere.\nAgent: Renamed, in migration 0017 and in the code.\nDid: edited migrations/0017_tills.sql",
      "User: No. Never edit a migration that has already run, always add a new one.\nAgent: 0017 is as before; the rename is in 0042 now.\nDid: edited migrations/0042_till_number.sql",
    ],
  },
  {
    id: "example-kassa-3",
    project: "kassa",
    daysAgo: 14,
    at: "14:30",
    tags: ["tax-office", "decision"],
    exchanges: [
      "User: The daily closing of Vienna was sent twice on Saturday. Find out why.\nAgent: The worker repeats a request that takes longer than ten seconds, under a new id, so the tax office cannot tell that both are one closing.\nDid: read src/sync/worker.ts",
      "User: Every closing carries its till and its date as the idempotency key.\nAgent: Done; a repeated closing has the same key. The sandbox refuses keys of more than 32 characters, so the key is a hash.\nDecided: The key of a closing is a hash of till and date, 32 characters long.\nDid: edited src/sync/key.ts; pnpm test sync",
    ],
  },
  {
    id: "example-kassa-4",
    project: "kassa",
    daysAgo: 12,
    at: "08:45",
    tags: ["release"],
    exchanges: [
      "User: Releases go to the tills every Thursday at 22:00, when the shops are closed. Petra has to approve each release.\nAgent: Both are in the README now.\nDid: edited README.md",
      "User: Always run the smoke test on the till in Graz before a release.\nAgent: I added it to the checklist.",
    ],
  },
  {
    id: "example-kassa-5",
    project: "kassa",
    daysAgo: 9,
    at: "16:20",
    tags: ["refunds", "correction"],
    exchanges: [
      "User: A refund is booked on the day of the sale, that is the law here. Fix the code, the test is right.\nAgent: Refunds are booked on the day of the sale now; the test is untouched.\nDid: edited src/api/refund.ts; pnpm test api",
    ],
  },
  {
    id: "example-kassa-6",
    project: "kassa",
    daysAgo: 6,
    at: "11:10",
    tags: ["setup"],
    exchanges: [
      "User: The test database listens on port 5434 now, 5433 belongs to the staging copy.\nAgent: I changed the compose file and the test set-up; all 43 files pass.\nDid: edited compose.yaml; pnpm test",
      "User: Why is the article import so slow?\nAgent: It inserts 60,112 articles one by one. In batches of 1,000 rows it takes 6 seconds instead of 228.\nDid: edited src/articles/import.ts",
    ],
  },
  {
    id: "example-kassa-7",
    project: "kassa",
    daysAgo: 1,
    at: "15:00",
    tags: ["release", "incident"],
    exchanges: [
      "User: The payment worker hung again after the restart, and two payments were booked twice.\nAgent: The restart repeated what was under way. I drained the queue first and then restarted it; nothing was lost.\nDid: pnpm tsx scripts/drain.ts",
      "User: Remember to drain the payment queue before restarting the worker.\nAgent: Noted.",
    ],
  },
  {
    id: "example-labels-1",
    project: "labels",
    daysAgo: 16,
    at: "13:00",
    tags: ["printers"],
    exchanges: [
      "User: The label printers speak ZPL. Never send them a PDF.\nAgent: The service renders ZPL now; the PDF path is gone.\nDid: edited src/render/zpl.ts",
      "User: Prices are written with a comma and the euro sign behind them.\nAgent: 3,49 € it is, in all sizes.\nDid: edited src/render/price.ts",
    ],
  },
  {
    id: "example-labels-2",
    project: "labels",
    daysAgo: 8,
    at: "09:40",
    tags: ["deploy"],
    exchanges: [
      "User: The label service is deployed with make ship from the main branch.\nAgent: I put that into CONTRIBUTING.md.\nDid: edited CONTRIBUTING.md",
      "User: Why do the umlauts come out as question marks?\nAgent: The printers expect UTF-8 to be switched on with ^CI28; the template has it now.\nDid: edited templates/shelf.zpl",
    ],
  },
  {
    id: "example-labels-3",
    project: "labels",
    daysAgo: 2,
    at: "10:30",
    tags: ["printers"],
    exchanges: [
      "User: The shop in Linz gets the narrow labels, 38 by 25 millimetres, from Monday on. Its printer is still the old GK420.\nAgent: The size is a setting of the shop now, and Linz has the narrow one.\nDid: edited src/shops.ts; pnpm test",
    ],
  },
];
