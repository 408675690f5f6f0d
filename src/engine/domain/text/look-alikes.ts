/** Which ASCII character a reader, or a model, takes a character for. Only what stands in brackets, tags and their names. */

/** Each row: the ASCII character, then those that are drawn like it and that compatibility decomposition does not bring back. */
const ROWS: readonly string[] = [
  "<‹〈⟨〈❬❮❰˂ᐸᚲ⧼𝈶",
  ">›〉⟩〉❭❯❱˃ᐳ⧽𝈷",
  "/⁄∕⧸╱⟋⼃〳᜵\\⧵∖⟍",
  "|∣│┃ǀ⏐❘¦ǁ‖",
  "[⁅【〔",
  "]⁆】〕",
  "-‐‑‒–—―−˗⁃᠆─━ーㅡ",
  "_▁‿",
  "aаαᴀꓮ",
  "bƀʙвВьЬβΒꓐᏴᛒ",
  "cсϲᴄꓚ",
  "dԁđᴅꓓ",
  "eеєεΕᴇꓰ",
  "gɡց",
  "hһհнʜꓧ",
  "iіιıɪІꓲ",
  "kкκᴋꓗ",
  "lӏʟłꓡ",
  "mмμΜᴍꓟϻ",
  "nηոɴꓠпΝ",
  "oоοօᴏøꓳσ০ഠ",
  "pрρᴘꓑ",
  "rгʀꓣᴦ",
  "sѕꜱꓢՏ",
  "tтτΤᴛꓔ",
  "uυսᴜꓴʋ",
  "vνᴠѵꓦ",
  "wԝᴡꓪω",
  "xхχꓫ",
  "yуүγΥʏꓬў",
];

const DRAWN_ALIKE: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap((row) => {
    const [plain = "", ...alike] = row;
    return alike.flatMap((one) => [one, one.toLowerCase()].map((spelling): [string, string] => [spelling, plain]));
  }),
);

const seen = new Map<string, string>();
/** There are a million code points, and a stranger may store them all. */
const MOST_SEEN = 4_096;

/** In lower case. "" for what is not seen by itself: accents, joiners, variation selectors. */
export function looksLike(character: string): string {
  const known = seen.get(character);
  if (known !== undefined) return known;
  const plain = plainForm(character);
  if (seen.size < MOST_SEEN) seen.set(character, plain);
  return plain;
}

function plainForm(character: string): string {
  const parts = [...character.normalize("NFKD")].filter(
    (part) => !/[\p{M}\p{Default_Ignorable_Code_Point}]/u.test(part),
  );
  return parts
    .map((part) => DRAWN_ALIKE.get(part) ?? DRAWN_ALIKE.get(part.toLowerCase()) ?? part.toLowerCase())
    .join("");
}
