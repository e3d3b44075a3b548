import { z } from 'zod';
import { stateChangesSchema } from '../changes/state-changes.js';
import { faultSchema } from '../faults/schema.js';
import { expectationsSchema } from '../journal/expectations.js';
import { quotaChangesSchema } from '../quotas/quota-changes.js';
import { CLOCK_MODES } from '../time/clock.js';
import { parseDuration, parseTime } from '../time/iso-8601.js';
import { SCENARIO_LIMITS } from './scenario.js';

/** Pattern of a scenario id. The id is also part of the generated ids of faults, such as `<id>.1`. */
const ID = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Short form of a step's trigger `on`, such as `push to main`. */
export const PUSH = /^push to (\S{1,200})$/;

const text = z.string().min(1).max(4096);
const duration = z.union([text.refine(isDuration), z.int().min(0).max(Number.MAX_SAFE_INTEGER)], {
  error: 'must be a duration such as PT30S or 30s, or milliseconds',
});
const time = text.refine(isTime, 'must be an ISO 8601 time such as 2026-01-01T00:00:00Z');
const clock = z
  .strictObject({ mode: z.enum(CLOCK_MODES, `must be one of ${CLOCK_MODES.join(', ')}`), now: time })
  .partial();
const status = z.union([z.int().min(100).max(599), z.string().regex(/^[1-5](?:xx|\d\d)$/)], {
  error: 'must be an HTTP status, or a class such as 4xx',
});

const trigger = z
  .strictObject({
    op: z.union([text, z.array(text).min(1).max(100)], {
      error: 'must be the id of an operation, a glob such as git*, or a list of them',
    }),
    method: z.string().regex(/^[A-Z]+$/, 'must be a method in upper case, such as POST'),
    org: text,
    repo: text,
    push: text.meta({ description: 'Branch that the request moved, by a Git push or through the API.' }),
    ref: text.meta({ description: 'Ref that the request moved, or that a Git request names.' }),
    status: z.union([status, z.array(status).min(1).max(100)], {
      error: 'must be an HTTP status, a class such as 4xx, or a list of them',
    }),
    code: text,
    fault: text,
    scenario: text,
    times: z.int().min(1).max(1_000_000),
  })
  .partial()
  .refine(
    (value) => Object.keys(value).some((name) => name !== 'times'),
    'must have at least one condition in addition to times',
  )
  .meta({
    description:
      'Conditions for a request with a decided response. All given members must match. Texts are globs with * and ?.',
  });

const release = z.string().regex(/^[\w.-]{1,100}$/, 'must be the name of a latch: letters, digits, ".", "-" and "_"');

/** Schema of a fault in any accepted notation: text (`rate_limited*2`), text in `spec` with a `match`, or JSON. */
const writtenFault = z.union([
  text.meta({ description: 'name[*times][+skip][@stage][;key=value]' }),
  faultSchema(),
  z.looseObject({ spec: text, match: z.looseObject({}).optional() }),
]);

/**
 * Creates the schema of a scenario, in one of two versions. The published version (`isShown`) also accepts short forms:
 * `clock` as text, `on` as `push to BRANCH`, and faults as text. The internal version does not, because short forms are
 * expanded before validation.
 */
function createSchema(isShown: boolean) {
  // The internal schema accepts any value as a fault. Faults are validated separately, with errors that name the
  // invalid member.
  const faults = z.array(isShown ? writtenFault : z.unknown()).max(SCENARIO_LIMITS.faults);
  const on = isShown ? z.union([z.string().regex(PUSH), trigger]) : trigger;
  const begin = isShown ? z.union([z.literal('real'), time, clock]) : clock;
  const [quotaChanges, stateChanges] = [quotaChangesSchema(), stateChangesSchema()];
  const [repository] = [stateChanges.shape.repositories.unwrap().valueType];
  const step = z
    .strictObject({
      on,
      after: duration,
      clock: clock.extend({ advance: duration.optional() }),
      quotas: quotaChanges,
      state: stateChanges,
      repository,
      faults,
      release,
    })
    .partial()
    .refine(
      ({ on: _on, after: _after, ...changes }) => Object.keys(changes).length > 0,
      'must change something: clock, quotas, state, repository, faults or release',
    );
  return z.strictObject({
    id: z
      .string()
      .regex(ID, 'must be a name of at most 64 letters, digits, "_", "." and "-", beginning with a letter or digit'),
    about: text.optional(),
    seed: z
      .union([z.string().min(1).max(200), z.int()], { error: 'must be a string or an integer' })
      .transform(String)
      .optional(),
    clock: begin.optional(),
    state: stateChanges.optional(),
    quotas: quotaChanges.optional(),
    faults: faults.optional(),
    steps: z.array(step).max(SCENARIO_LIMITS.steps).optional(),
    expect: (isShown ? expectationsSchema() : z.unknown()).optional(),
  });
}

/** Schema that validates a scenario after its short forms were expanded. */
export const scenarioSchema = z.lazy(() => createSchema(false));

/** Published schema of a scenario. It includes the short forms. */
export const shownScenarioSchema = z.lazy(() => createSchema(true));

/** Returns the JSON Schema of scenario files, for editors. */
export function scenarioJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(createSchema(true), {
    io: 'input',
    unrepresentable: 'any',
    reused: 'ref',
  });
  const title = 'Scenario of the emulator';
  return { $schema, title, ...schema };
}

function isDuration(value: string): boolean {
  return parseDuration(value) !== undefined;
}

function isTime(value: string): boolean {
  return parseTime(value) !== undefined;
}
