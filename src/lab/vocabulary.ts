/** The words of an invented but ordinary working life; earlier ones are used more often (Zipf). */
const words = (text: string): readonly string[] => text.split(",").map((one) => one.trim());

/** First names of pioneers of computing. */
export const PEOPLE =
  words(`Ada, Grace, Alan, Barbara, Edsger, Katherine, Donald, Frances, Dennis, Margaret, Claude, Radia, Niklaus, Jean, Kurt, Hedy,
  Charles, Adele, Blaise, Emmy, Gottfried, Mary, Leslie, Sophie, Ken, Shafi, Vint, Karen, Tim, Lynn, Konrad, Joan, Rozsa, Haskell, Alonzo, Evelyn`);
export const PROJECTS =
  words(`Ledger, Atlas, Beacon, Harbour, Quill, Meridian, Lantern, Orchard, Compass, Juniper, Falcon, Tundra, Saffron,
  Cobalt, Willow, Granite, Nimbus, Pepper, Rosetta, Sable`);
export const THINGS =
  words(`migration, deployment, invoice, queue, search index, login page, report, backup, test suite, cache, webhook,
  dashboard, payment worker, import job, mobile app, mail template, rate limit, feature flag, session store, audit log, build pipeline,
  staging server, release branch, customer export, timeout, certificate, currency table, onboarding flow, calendar sync, retry policy,
  password reset, price list, tax rule, translation file, upload form, error page, health check, replica, schedule, notification, token
  refresh, address book, contract, supplier list, warehouse feed, barcode scanner, meeting room, budget sheet, travel plan, coffee machine`);
export const PAST =
  words(`fixed, reviewed, rolled back, finished, paused, measured, rewrote, merged, tested, shipped, documented, removed,
  renamed, split, simplified, debugged, upgraded, investigated, discussed, postponed, automated, configured, restored, replaced, cleaned up`);
export const CAUSES =
  words(`a missing index, a race between two workers, an expired certificate, a wrong time zone, a full disk, a typo in the
  configuration, a slow query, an old dependency, a network timeout, a duplicate key, a rounding error, a forgotten migration, a stale cache,
  an unclear requirement, a broken pipe, memory pressure, a changed API, a leap second, an encoding problem, a deadlock, a bad merge`);
export const OUTCOMES =
  words(`response times fell by half, nobody noticed, customers wrote to support, the graph went flat, the tests are green again,
  a follow-up is needed, the team agreed to wait, it will go out next week, the error count dropped to zero, two invoices were sent twice,
  the night shift could sleep, it has to be explained to finance, the plan stays as it is, we learned to check earlier, it cost a whole day`);
export const PLACES =
  words(`Hamburg, Lisbon, Oslo, Vienna, Gdansk, Turin, Lyon, Ghent, Malmo, Porto, Basel, Leeds, Riga, Split, Graz, Cork, Izmir,
  Tartu, Bergen, Utrecht`);
export const TOPICS =
  words(`green tea, long walks, dark mode, short meetings, spreadsheets, the early train, window seats, hand-written notes, jazz,
  rye bread, chess, cycling, gardening, crime novels, cold water swimming, board games, pottery, black coffee, static typing, pair programming,
  quiet mornings, spicy food, old maps, choir practice, running, photography, baking, sailing, astronomy, knitting`);
export const TRAITS =
  words(`prefers, uses, works on, owns, reports to, is responsible for, is learning, avoids, reviews, maintains, has access to,
  pays for, is waiting for, wants to replace, is proud of`);
export const SITUATIONS =
  words(`before a release, when a test fails, after an incident, when a customer is waiting, on a Friday, before a migration, when a
  queue grows, when somebody is new to the team, after a holiday, when the build is red, when numbers disagree, before a demo, at the end of a
  sprint, when two people disagree, when a secret is found`);
export const ADVICE =
  words(`ask one short question first, write down what was tried, keep the change small, measure before and after, tell the owner
  of the service, look at the logs of the last hour, make a backup, switch the feature flag off, prefer the boring solution, run it on a copy,
  wait for a second opinion, add a test that fails first, leave the old column in place, announce it in the channel, check the time zone`);
export const QUESTIONS =
  words(`what happened to, who worked on, why did we change, when was the last problem with, what do we know about, how did it go
  with, what was decided about, what broke, who is responsible for, what is the plan for`);
