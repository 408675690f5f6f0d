import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The daemon serves the files below `/memory/`. While the pages are worked on, `npx vite web` asks a daemon at BUTLER_PORT 4270. */
// biome-ignore lint/style/noDefaultExport: Vite reads its settings from the default export.
export default defineConfig({
  root: import.meta.dirname,
  base: "/memory/",
  plugins: [react()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2022",
    // The first browsers with light-dark(), which holds both colours of a token.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Pictures and fonts stay files: the content security policy allows none that is written into a page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": "http://127.0.0.1:4270" } },
});
