import { z } from 'zod';
import { mayBeAbsent } from '../operation/reply-schema.js';

/** Draws a number from 0 up to `below`, without it. */
export type Draw = (below: number) => number;

/** What is done to an answer. */
export interface Bend {
  /** Whether objects get members that no specification knows. */
  readonly adds: boolean;
  /** Whether members are left out that need not be there. */
  readonly drops: boolean;
  /** Whether members come in another order. */
  readonly turns: boolean;
}

/** Of members that no specification knows. No list: that of an answer is known by being the only one. */
const UNKNOWN_VALUES: readonly unknown[] = [null, 7, 'unknown', { nested: true }];

/** What no specification knows, by a name that nothing else has. */
export function unknownName(draw: Draw): string {
  return `x_unknown_${draw(1000)}`;
}

/** A value of `schema`, bent. Of what the schema does not tell to be an object with names of its own only the order is. */
export function bendValue(value: unknown, schema: z.core.$ZodType | undefined, draw: Draw, bend: Bend): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const shape = schema && inner(schema);
  if (Array.isArray(value)) {
    const element = shape instanceof z.ZodArray ? shape.element : undefined;
    return value.map((item) => bendValue(item, element, draw, bend));
  }
  const members: [name: string, member: unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const own = memberSchema(shape, name);
    if (bend.drops && own !== undefined && mayBeAbsent(own, member) && draw(2) === 0) continue;
    members.push([name, bendValue(member, own, draw, bend)]);
  }
  if (bend.adds && shape instanceof z.ZodObject) {
    members.push([unknownName(draw), UNKNOWN_VALUES[draw(UNKNOWN_VALUES.length)]]);
  }
  if (bend.turns) for (let at = members.length - 1; at > 0; at--) swap(members, at, draw(at + 1));
  return Object.fromEntries(members);
}

function memberSchema(shape: z.core.$ZodType | undefined, name: string): z.core.$ZodType | undefined {
  if (shape instanceof z.ZodObject) return Object.hasOwn(shape.shape, name) ? shape.shape[name] : undefined;
  return shape instanceof z.ZodRecord ? shape.valueType : undefined;
}

/** The schema of what is there, of one that may be absent or null. */
function inner(schema: z.core.$ZodType): z.core.$ZodType {
  let found = schema;
  while (found instanceof z.ZodOptional || found instanceof z.ZodNullable) found = found.unwrap();
  return found;
}

function swap<T>(list: T[], one: number, other: number): void {
  [list[one], list[other]] = [list[other]!, list[one]!];
}
