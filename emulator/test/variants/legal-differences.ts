import type { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * Numbers of members that adversarial responses added and dropped. In adversarial mode, the emulator varies responses
 * as the specification allows.
 */
export interface Seen {
  added: number;
  dropped: number;
}

/**
 * Compares a usual response with a varied response `bent`, using the JSON schema of the response. Returns the
 * differences that no service may have. Members may be added, but only with one kind of name and not to maps. Members
 * may be omitted if the schema does not require them. Values must be equal.
 */
export function illegalDifferences(
  usual: unknown,
  bent: unknown,
  schema: JsonSchema | undefined,
  seen: Seen,
  path = '$',
): string[] {
  if (Array.isArray(usual)) {
    if (!Array.isArray(bent) || bent.length !== usual.length) return [`${path} is no list of ${usual.length}`];
    const items = presentOf(schema)?.items as JsonSchema | undefined;
    return usual.flatMap((item, at) => illegalDifferences(item, bent[at], items, seen, `${path}[${at}]`));
  }
  if (typeof usual !== 'object' || usual === null) return Object.is(usual, bent) ? [] : [`${path} is ${bent}`];
  if (typeof bent !== 'object' || bent === null || Array.isArray(bent)) return [`${path} is no object`];
  const { properties, required = [], additionalProperties } = presentOf(schema) ?? {};
  const wrong: string[] = [];
  for (const name of Object.keys(bent)) {
    if (Object.hasOwn(usual, name)) continue;
    if (properties === undefined || !/^x_unknown_\d+$/.test(name)) wrong.push(`${path}.${name} is new`);
    seen.added += 1;
  }
  for (const [name, member] of Object.entries(usual)) {
    const own = (properties?.[name] ?? additionalProperties) as JsonSchema | undefined;
    const at = `${path}.${name}`;
    if (Object.hasOwn(bent, name)) {
      wrong.push(...illegalDifferences(member, bent[name as never], own, seen, at));
    } else {
      const isFree = properties?.[name] !== undefined && !required.includes(name);
      const hasNone = own?.anyOf === undefined || member === null;
      if (!isFree || !hasNone || own?.['x-present-when'] !== undefined) wrong.push(`${at} is left out`);
      seen.dropped += 1;
    }
  }
  return wrong;
}

/** Returns the schema for non-null values if the schema allows null. Returns any other schema unchanged. */
function presentOf(schema: JsonSchema | undefined): JsonSchema | undefined {
  const [first] = schema?.anyOf ?? [];
  return first ?? schema;
}
