import { z } from "zod";
import { listScopes } from "../../store/browse/scopes.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";

const MOST = 1_000;

export const viewScopes = defineView({
  name: "view_scopes",
  title: "The scopes in which something is remembered",
  input: f.input({}),
  output: f.output({ scopes: z.array(z.string()).describe(`global, butlers, and their projects; at most ${MOST}.`) }),
  async run(call) {
    const { tenant, scopes } = v.seenBy(call);
    const all = await listScopes(call.memory.db, tenant, MOST);
    return { scopes: all.filter((scope) => scopes === undefined || scopes.includes(scope)) };
  },
});
