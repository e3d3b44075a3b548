import t from 'tap';
import { z } from 'zod';
import { operations } from '../api/index.js';
import { presentWhen } from '../operation/reply-schema.js';
import { illegalDifferences } from '../test/variants/legal-differences.js';
import { type Draw, type Perturbations, perturbValue } from './adversary.js';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Returns a value with all members of the schema. If `isNull` is true, every member that may be null is null. */
function sample(schema: JsonSchema, isNull: boolean): unknown {
  if (schema.anyOf) return isNull ? null : sample(schema.anyOf[0] as JsonSchema, isNull);
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, member]);
      const map = typeof schema.additionalProperties === 'object' ? [['one', schema.additionalProperties]] : [];
      const all = [...members, ...(members.length > 0 ? [] : map)] as [string, JsonSchema][];
      return Object.fromEntries(all.map(([name, member]) => [name, sample(member, isNull)]));
    }
    case 'array':
      return [sample(schema.items as JsonSchema, isNull), sample(schema.items as JsonSchema, isNull)];
    case 'boolean':
      return true;
    case 'integer':
      return 7;
    default:
      return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text';
  }
}

/** Returns a random number generator. The same seed produces the same numbers. */
function drawOf(seed: number): Draw {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

const EVERYTHING: Perturbations = { adds: true, drops: true, turns: true };

t.test('an adversarial response of every operation differs from the usual one only as its schema allows', async (t) => {
  for (const { id, replies } of operations) {
    // Skip the operations of Git LFS, which have their own specification.
    if (id.startsWith('lfs')) continue;
    for (const [status, reply] of Object.entries(replies)) {
      if (typeof reply === 'string') continue;
      const schema = z.toJSONSchema(reply, { io: 'output', unrepresentable: 'any' }) as JsonSchema;
      const seen = { added: 0, dropped: 0 };
      const wrong: string[] = [];
      for (let seed = 1; seed <= 40; seed++) {
        const usual = sample(schema, seed % 2 === 0);
        const bent = perturbValue(usual, reply, drawOf(seed), EVERYTHING);
        wrong.push(...illegalDifferences(usual, bent, schema, seen));
        if (!reply.safeParse(bent).success) wrong.push(`seed ${seed}: not of its schema`);
        if (seed === 1) t.same(perturbValue(usual, reply, drawOf(seed), EVERYTHING), bent, 'drawn again, the same');
      }
      t.strictSame(wrong, [], `${id}, ${status}`);
      t.ok(seen.added > 0, `${id}, ${status}: members are added`);
    }
  }
});

t.test('optional members are omitted; members with a condition are not', async (t) => {
  const schema = z.object({
    always: z.string(),
    nullable: z.string().nullable(),
    free: z.string().optional(),
    end: z.string().nullish(),
    next: z.string().nullish(),
    bound: presentWhen(z.string(), 'it was asked for'),
    map: z.record(z.string(), z.object({ free: z.string().optional() })),
    items: z.array(z.object({ free: z.int().optional() })),
  });
  const value = {
    always: 'a',
    nullable: null,
    free: 'f',
    end: null,
    next: 'n',
    bound: 'b',
    map: { id: { free: 'm' } },
    items: [{ free: 1 }],
  };
  const never: Draw = () => 0;
  t.same(perturbValue(value, schema, never, { adds: false, drops: true, turns: false }), {
    always: 'a',
    nullable: null,
    next: 'n',
    bound: 'b',
    map: { id: {} },
    items: [{}],
  });
  t.same(perturbValue(value, schema, never, { adds: true, drops: false, turns: false }), {
    ...value,
    map: { id: { free: 'm', x_unknown_0: null } },
    items: [{ free: 1, x_unknown_0: null }],
    x_unknown_0: null,
  });
  t.same(perturbValue(value, undefined, never, EVERYTHING), value, 'of what is not known the order alone changes');
});
