/**
 * What a message of the protocol is. The protocol's own library checks the same with schemas that take longer to load than everything else
 * that an agent's server does at its start; a test compares the two on any JSON.
 */
import { isRecord } from "../../../engine/domain/record.ts";

export type RequestId = string | number;

export interface Message {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface Request extends Message {
  readonly id: RequestId;
}

export const isRequestId = (id: unknown): id is RequestId => typeof id === "string" || Number.isSafeInteger(id);

export function isRequest(message: unknown): message is Request {
  return isEnvelope(message, ["id", "method", "params"]) && isRequestId(message.id) && isCall(message);
}

export function isNotification(message: unknown): message is Message {
  return isEnvelope(message, ["method", "params"]) && isCall(message);
}

export function isResponse(message: unknown): boolean {
  if (isEnvelope(message, ["id", "result"])) return isRequestId(message.id) && isResult(message.result);
  if (!isEnvelope(message, ["id", "error"])) return false;
  const { id, error } = message;
  return (
    (id === undefined || isRequestId(id)) &&
    isRecord(error) &&
    Number.isSafeInteger(error.code) &&
    typeof error.message === "string"
  );
}

function isEnvelope(message: unknown, names: readonly string[]): message is Record<string, unknown> {
  return (
    isRecord(message) &&
    message.jsonrpc === "2.0" &&
    Object.keys(message).every((name) => name === "jsonrpc" || names.includes(name))
  );
}

const isCall = ({ method, params }: Record<string, unknown>): boolean =>
  typeof method === "string" && (params === undefined || (isRecord(params) && isMeta(params._meta)));

const isResult = (result: unknown): boolean =>
  isRecord(result) && (result._meta === undefined || isRecord(result._meta));

const RELATED_TASK = "io.modelcontextprotocol/related-task";

function isMeta(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isRecord(meta)) return false;
  const task = meta[RELATED_TASK];
  const token = meta.progressToken;
  return (
    (token === undefined || isRequestId(token)) &&
    (task === undefined || (isRecord(task) && typeof task.taskId === "string"))
  );
}
