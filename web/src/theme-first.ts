/** The chosen colours, before anything is drawn: a page that changes its colours after it came up blinks. */
import { applyTheme, chosenTheme } from "./frame/theme.ts";

applyTheme(chosenTheme());
