import { z } from 'zod';

/** Key under which the metadata of a schema, and thus the OpenAPI document, contain the condition for a member. */
const PRESENT_WHEN = 'x-present-when';

/**
 * Returns a schema for a response member that is present exactly if `condition` (text) holds. By contrast, a member
 * that is only `optional` may be absent from any response.
 */
export function presentWhen<Schema extends z.ZodType>(schema: Schema, condition: string): z.ZodOptional<Schema> {
  return schema.optional().meta({ [PRESENT_WHEN]: condition });
}

/**
 * Returns true if a response that conforms to the schema may omit a member with this value. If the member may also be
 * null, only null may be omitted.
 */
export function mayBeAbsent(schema: z.core.$ZodType, value: unknown): boolean {
  if (!(schema instanceof z.ZodOptional) || schema.meta()?.[PRESENT_WHEN] !== undefined) return false;
  return !(schema.unwrap() instanceof z.ZodNullable) || value === null;
}
