/** What the pages read and change on PostgreSQL. Who gets in, how a page looks and what hostile texts do is the same on every store: pglite.test.ts. */
import { inHouse } from "../support/browser/house.ts";
import { changes } from "./suites/changes.ts";
import { everyPage } from "./suites/every-page.ts";
import { newcomer } from "./suites/newcomer.ts";
import { reading } from "./suites/reading.ts";
import { silentButler } from "./suites/silent-butler.ts";

inHouse("PostgreSQL", {
  "every page": everyPage,
  "a newcomer": newcomer,
  "finding one's way": reading,
  changes,
  "a butler that does not answer": silentButler,
});
