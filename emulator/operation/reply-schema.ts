import { z } from 'zod';

/**
 * Key in the metadata of a schema, and thus in the OpenAPI document, for the condition under which a member is present.
 */
const PRESENT_WHEN = 'x-present-when';

/**
 * Returns a schema for a response member that is present exactly if `condition` (a text for readers) holds. By
 * contrast, a member that is only `optional` may be absent from any response.
 */
export function presentWhen<Schema extends z.ZodType>(schema: Schema, condition: string): z.ZodOptional<Schema> {
  return schema.optional().meta({ [PRESENT_WHEN]: condition });
}

/**
 * Returns true if a response may omit a member with this schema and value and still conforms. If the member may also be
 * null, it may be omitted only if its value is null.
 */
export function mayBeAbsent(schema: z.core.$ZodType, value: unknown): boolean {
  if (!(schema instanceof z.ZodOptional) || schema.meta()?.[PRESENT_WHEN] !== undefined) return false;
  return !(schema.unwrap() instanceof z.ZodNullable) || value === null;
}
