import { z } from 'zod';
import { shapeSteps } from '../http/body.js';
import { lazy } from '../memory/lazy.js';
import { runSync, type Steps } from '../schedule/steps.js';
import { parseDuration } from '../time/iso-8601.js';
import { CLIENT_RULE_IDS, type ClientRuleId } from './client-rules/ids.js';
import { type RequestQuery, requestQuerySchema } from './query.js';

const MAX_REQUESTS = 1000;

/**
 * Expectation about recorded requests. By default, at least one matching request is expected. `count`, `atLeast`,
 * `atMost`, `never` and `order` change this.
 */
export interface RequestExpectation {
  /** Selects requests with the same conditions as the query of `GET requests`. */
  readonly match: RequestQuery;
  readonly count?: number | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  readonly never?: true | undefined;
  /**
   * Position in an expected sequence. Expectations with an `order` are checked in ascending order: each needs a
   * matching request after the previous one's match.
   */
  readonly order?: number | undefined;
  /**
   * Minimum pause between consecutive matching requests, measured from a response to the next request. Either an ISO
   * 8601 duration, or `retry-after` for the time in the `Retry-After` header.
   */
  readonly minGap?: string | undefined;
}

/** Expectations of a test about requests, injected faults and the behaviour of the client. */
export interface Expectations {
  /** Id of a request. Only later requests are checked. */
  readonly after?: string | undefined;
  readonly requests?: readonly RequestExpectation[] | undefined;
  readonly faults?: { readonly everyFired?: true | undefined } | undefined;
  /** Rules by which clients are checked: all rules (`true`), or the named ones. */
  readonly client?: true | readonly ClientRuleId[] | undefined;
}

/**
 * Creates the schemas of expectations. Called when the first expectations arrive, because most runs of the emulator
 * have none.
 */
function createSchemas() {
  const count = z.int().min(0).max(1_000_000);

  const requestExpectation = z
    .strictObject({
      match: requestQuerySchema(),
      count: count.optional(),
      atLeast: count.optional(),
      atMost: count.optional(),
      never: z.literal(true).optional(),
      order: z.int().optional(),
      minGap: z
        .string()
        .refine((text) => text === 'retry-after' || parseDuration(text) !== undefined, {
          error: 'must be retry-after or an ISO 8601 duration such as PT1.5S',
        })
        .optional(),
    })
    .superRefine(({ count: exact, atLeast, atMost, never, order, minGap }, context) => {
      const fail = (member: string, message: string) => context.addIssue({ code: 'custom', path: [member], message });
      if (exact !== undefined && (atLeast ?? atMost) !== undefined)
        fail('count', 'cannot be combined with atLeast or atMost');
      if (never && (exact ?? atLeast ?? atMost ?? order ?? minGap) !== undefined) {
        fail('never', 'cannot be combined with count, atLeast, atMost, order or minGap');
      }
      if (atLeast !== undefined && atMost !== undefined && atLeast > atMost)
        fail('atLeast', `is ${atLeast}, which is greater than atMost (${atMost})`);
    });

  const expectations = z.strictObject({
    after: z.string().max(100).optional(),
    requests: z.array(requestExpectation).max(MAX_REQUESTS).optional(),
    faults: z.strictObject({ everyFired: z.literal(true).optional() }).optional(),
    client: z.union([z.literal(true), z.array(z.enum(CLIENT_RULE_IDS)).min(1).max(100)]).optional(),
  });
  /**
   * Schema of the expectations without the items of `requests`. The items are validated one by one, so that other
   * requests can run in between.
   */
  const outline = expectations.extend({ requests: z.array(z.unknown()).max(MAX_REQUESTS).optional() });
  return { requestExpectation, expectations, outline };
}

const schemas = lazy(createSchemas);

/** Returns the schema of expectations, for the OpenAPI document. @internal */
export const expectationsSchema = () => schemas().expectations;

/**
 * Validates expectations from a client. Throws `bad_request`, which names the invalid member and its allowed values.
 *
 * @internal
 */
export function readExpectations(given: unknown): Expectations {
  return runSync(expectationSteps(given));
}

/**
 * Like `readExpectations`, but as a generator that yields units of CPU work, so that the caller can let other requests
 * run. @internal
 */
export function* expectationSteps(given: unknown): Steps<Expectations> {
  const { outline, requestExpectation } = schemas();
  const { requests, ...rest } = yield* shapeSteps(outline, given, 'The expectations');
  if (!requests) return rest;
  const read: RequestExpectation[] = [];
  for (const [index, request] of requests.entries()) {
    const place = ['requests', String(index)];
    const expectation = yield* shapeSteps(requestExpectation, request, 'The expectations', 'bad_request', place);
    read.push(expectation);
    yield REQUEST_COST + Object.values(expectation.match).flat().length * VALUE_COST;
  }
  return { ...rest, requests: read };
}

const REQUEST_COST = 32;
const VALUE_COST = 1;
