import { z } from 'zod';

/** Metadata key of a schema for the condition under which a member is present. The OpenAPI document contains it too. */
const PRESENT_WHEN = 'x-present-when';

/**
 * Returns the schema of a response member that is present if and only if `condition` holds. `condition` is a text for
 * readers. In contrast, a member that is only `optional` may be absent from any response.
 */
export function presentWhen<Schema extends z.ZodType>(schema: Schema, condition: string): z.ZodOptional<Schema> {
  return schema.optional().meta({ [PRESENT_WHEN]: condition });
}

/**
 * Returns true if a response without this member conforms too. `schema` and `value` are those of the member. A member
 * that may also be null may be absent only if its value is null.
 */
export function mayBeAbsent(schema: z.core.$ZodType, value: unknown): boolean {
  if (!(schema instanceof z.ZodOptional) || schema.meta()?.[PRESENT_WHEN] !== undefined) return false;
  return !(schema.unwrap() instanceof z.ZodNullable) || value === null;
}
