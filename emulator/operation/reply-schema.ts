import { z } from 'zod';

/** The condition of such a member, in schemas and in the OpenAPI document printed from them. */
const PRESENT_WHEN = 'x-present-when';

/** A member that an answer has whenever `condition` holds. One that is only `optional` may be left out of any answer. */
export function presentWhen<Schema extends z.ZodType>(schema: Schema, condition: string): z.ZodOptional<Schema> {
  return schema.optional().meta({ [PRESENT_WHEN]: condition });
}

/** Whether an answer may leave out the member, whose value is `value`: where it may be null as well, only null. */
export function mayBeAbsent(schema: z.core.$ZodType, value: unknown): boolean {
  if (!(schema instanceof z.ZodOptional) || schema.meta()?.[PRESENT_WHEN] !== undefined) return false;
  return !(schema.unwrap() instanceof z.ZodNullable) || value === null;
}
