/** The description of the API, OpenAPI 3.1, made from the table of routes. */
import { z } from "zod";
import { ERROR_CODES } from "../../../engine/domain/errors.ts";
import type { Described } from "./define.ts";

type Json = Record<string, unknown>;

const Failed = z.object({
  error: z.object({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    field: z.string().optional(),
    request_id: z.string().optional(),
  }),
});

export function openApi(routes: readonly Described[], version: string): Json {
  const paths: Record<string, Json> = {};
  const schemas: Record<string, unknown> = { Failed: schemaOf(Failed, "output") };
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
    schemas[route.id] = inPlace(schemaOf(route.answer, "output"), route.id);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Butler Memory",
      version,
      description: "What the pages read and change. All times are ISO 8601 in UTC.",
    },
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        session: { type: "apiKey", in: "cookie", name: "butler_session" },
      },
    },
    security: [{ token: [] }, { session: [] }],
  };
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return json;
}

/** What a schema says of itself (a tree of nodes) is found from the top of the document. */
function inPlace(schema: Json, id: string): Json {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"#/components/schemas/${id}/`);
  return JSON.parse(text) as Json;
}

function operation({ id, method, path, summary, input, stream = false }: Described): Json {
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const { properties = {}, required = [] } = schemaOf(input, "input") as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  const query = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
  const body = { required: required.length > 0, content: json(schemaOf(input, "input")) };
  return {
    operationId: id,
    summary,
    parameters: method === "GET" ? [...named, ...query] : named,
    ...(method === "POST" ? { requestBody: body } : {}),
    responses: {
      200: {
        description: "Done.",
        content: {
          [stream ? "text/event-stream" : "application/json"]: { schema: { $ref: `#/components/schemas/${id}` } },
        },
      },
      default: { description: "Refused, with the reason.", content: json({ $ref: "#/components/schemas/Failed" }) },
    },
  };
}

const json = (schema: Json) => ({ "application/json": { schema } });
