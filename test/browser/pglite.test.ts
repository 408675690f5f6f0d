/** Every page and every change on the embedded store, in one house: opening one takes as long as ten tests. */
import { inHouse } from "../support/browser/house.ts";
import { access } from "./suites/access.ts";
import { changes } from "./suites/changes.ts";
import { everyPage } from "./suites/every-page.ts";
import { hostile } from "./suites/hostile.ts";
import { newcomer } from "./suites/newcomer.ts";
import { reading } from "./suites/reading.ts";
import { silentButler } from "./suites/silent-butler.ts";

inHouse("PGlite", {
  "every page": everyPage,
  "a newcomer": newcomer,
  "finding one's way": reading,
  changes,
  "hostile texts": hostile,
  access,
  "a butler that does not answer": silentButler,
});
