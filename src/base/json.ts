/** Limit of nesting; the service's own JSON is flat. */
const DEEPEST = 100;

/**
 * Parses a JSON object; undefined for other texts, and for JSON nested deeper than DEEPEST, which
 * JSON.parse reads slowly.
 */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  let depth = 0;
  for (let at = 0; at < text.length && depth <= DEEPEST; at++) {
    const letter = text[at];
    if (letter === '[' || letter === '{') depth += 1;
    else if (letter === ']' || letter === '}') depth -= 1;
  }
  if (depth > DEEPEST) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Tells if a parsed value is an object, and neither a list nor null. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
