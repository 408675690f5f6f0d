/** A parameter as drivers take it that know no arrays of floats: those become the text of a float4[], all others stay as they are. */
export const floatsLiteral = (param: unknown): unknown =>
  param instanceof Float32Array ? `{${param.join(",")}}` : param;
