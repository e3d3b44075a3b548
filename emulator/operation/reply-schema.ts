import { z } from 'zod';

/** Key of the condition in the metadata of a schema, and in the OpenAPI document printed from it. */
const PRESENT_WHEN = 'x-present-when';

/**
 * Marks a member that a response has if `condition` holds. A member that is only `optional` may be absent from any
 * response.
 */
export function presentWhen<Schema extends z.ZodType>(schema: Schema, condition: string): z.ZodOptional<Schema> {
  return schema.optional().meta({ [PRESENT_WHEN]: condition });
}

/**
 * Returns true if a response may omit a member with this value. If the member may also be null, only null may be
 * omitted.
 */
export function mayBeAbsent(schema: z.core.$ZodType, value: unknown): boolean {
  if (!(schema instanceof z.ZodOptional) || schema.meta()?.[PRESENT_WHEN] !== undefined) return false;
  return !(schema.unwrap() instanceof z.ZodNullable) || value === null;
}
