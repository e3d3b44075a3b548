import { z } from 'zod';
import { shapeSteps } from '../http/body.js';
import { lazy } from '../memory/lazy.js';
import { runSync, type Steps } from '../schedule/steps.js';
import { parseDuration } from '../time/iso-8601.js';
import { CLIENT_RULE_IDS, type ClientRuleId } from './client-rules/ids.js';
import { type RequestQuery, requestQuerySchema } from './query.js';

const MAX_REQUESTS = 1000;

/**
 * Expectation about requests. Without `count`, `atLeast`, `atMost`, `never` or `order`, at least one matching request
 * is expected.
 */
export interface RequestExpectation {
  /** Selects the requests, as the query of `GET requests` does. */
  readonly match: RequestQuery;
  readonly count?: number | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  readonly never?: true | undefined;
  /**
   * Position in an expected sequence of requests. For each expectation with an `order`, in ascending order, a matching
   * request must come after the one found before.
   */
  readonly order?: number | undefined;
  /**
   * Minimum pause between two matching requests, from the response to the next request: an ISO 8601 duration, or
   * `retry-after` for the time in the `Retry-After` header.
   */
  readonly minGap?: string | undefined;
}

/** Expectations of a test about requests, injected faults and the behaviour of the client. */
export interface Expectations {
  /** Id of a request; only later requests are checked. */
  readonly after?: string | undefined;
  readonly requests?: readonly RequestExpectation[] | undefined;
  readonly faults?: { readonly everyFired?: true | undefined } | undefined;
  /** Checks the client by all rules (`true`) or by the named ones. */
  readonly client?: true | readonly ClientRuleId[] | undefined;
}

/**
 * Builds the schemas of expectations. Called when the first expectations arrive, because most runs of the emulator have
 * none.
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
   * Schema of the expectations without the items of `requests`. The items are checked one by one, so that other
   * requests can run in between.
   */
  const outline = expectations.extend({ requests: z.array(z.unknown()).max(MAX_REQUESTS).optional() });
  return { requestExpectation, expectations, outline };
}

const schemas = lazy(createSchemas);

/** Returns the schema that describes expectations in the OpenAPI document. @internal */
export const expectationsSchema = () => schemas().expectations;

/**
 * Validates expectations that a client sent. Throws `bad_request` with the invalid member and its allowed values.
 * @internal
 */
export function readExpectations(given: unknown): Expectations {
  return runSync(expectationSteps(given));
}

/**
 * Validates expectations as `readExpectations` does, in steps. A generator that yields the units of CPU work done, so
 * that the caller can let other requests run. @internal
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
