/** What the bundles of a build have in common. */
import { fileURLToPath } from "node:url";

export const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const BUNDLE = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  minifyWhitespace: true,
  minifySyntax: true,
};
