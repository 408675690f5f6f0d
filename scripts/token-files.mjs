/** After each build: the tokens of each encoding in the form that they are searched in, as dist/tokens/<name>.bin. */
import { mkdirSync, writeFileSync } from "node:fs";
import { packedTokens, TOKENIZERS, tokenFile } from "../dist/engine/adapters/tokenizer/gpt.js";

for (const name of TOKENIZERS) {
  const file = tokenFile(name);
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, await packedTokens(name));
}
