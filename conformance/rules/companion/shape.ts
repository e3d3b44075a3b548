import { isRecord } from '../../http/exchange.js';

export type Kind = 'string' | 'number' | 'boolean' | 'array' | 'object';

/**
 * Required members of a JSON response. Each path has a type. `branches[].name` means the name of every item of
 * `branches`, which must have at least one item.
 */
export type Shape = Readonly<Record<string, Kind>>;

/**
 * Compares a response body with a shape. Returns one description for each member that is missing or has another type;
 * an empty list if none.
 */
export function findMismatches(body: unknown, shape: Shape): string[] {
  return Object.entries(shape).flatMap(([path, kind]) => {
    const values = valuesAt(body, path.split('.')).map(kindOf);
    if (values.length === 0) return [`${path} is missing`];
    const odd = values.find((value) => value !== kind);
    return odd === undefined ? [] : [`${path} is ${odd}`];
  });
}

function valuesAt(body: unknown, names: readonly string[]): unknown[] {
  let values: unknown[] = [body];
  for (const name of names) {
    const isList = name.endsWith('[]');
    const member = isList ? name.slice(0, -2) : name;
    const found = values.map((value) => (isRecord(value) ? value[member] : undefined));
    values = isList ? found.flatMap((value) => (Array.isArray(value) ? value : [undefined])) : found;
  }
  return values;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
