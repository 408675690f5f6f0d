/** In the `_meta` of a call over MCP: the whole answer, as other doors give it. */
export const WHOLE = { "butler-memory/answer": "whole" };
