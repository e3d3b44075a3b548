import { z } from 'zod';
import { shapeSteps } from '../http/body.js';
import { lazy } from '../memory/lazy.js';
import { runSync, type Steps } from '../schedule/steps.js';
import { parseDuration } from '../time/iso-8601.js';
import { CLIENT_RULE_IDS, type ClientRuleId } from './client-rules/ids.js';
import { type RequestQuery, requestQuerySchema } from './query.js';

const MAX_REQUESTS = 1000;

/** What is expected of some of the requests. Without a number, at least one of them is. */
export interface RequestExpectation {
  /** Which requests are meant; those that `GET requests` finds by it. */
  readonly match: RequestQuery;
  readonly count?: number | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
  readonly never?: true | undefined;
  /** Expectations with an order are found one behind the other. */
  readonly order?: number | undefined;
  /** The least pause between two of them, from answer to request: `retry-after` for what the answer asked for, or an ISO 8601 duration. */
  readonly minGap?: string | undefined;
}

/** What is expected of the requests, the faults and the client. */
export interface Expectations {
  /** Only requests behind the one with this id count. */
  readonly after?: string | undefined;
  readonly requests?: readonly RequestExpectation[] | undefined;
  readonly faults?: { readonly everyFired?: true | undefined } | undefined;
  /** Checks the client by all rules, or by those that are named. */
  readonly client?: true | readonly ClientRuleId[] | undefined;
}

/** Most runs expect nothing, so what expectations are read with is made when the first ones come. */
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
          error: 'has to be retry-after or an ISO 8601 duration such as PT1.5S',
        })
        .optional(),
    })
    .superRefine(({ count: exact, atLeast, atMost, never, order, minGap }, context) => {
      const fail = (member: string, message: string) => context.addIssue({ code: 'custom', path: [member], message });
      if (exact !== undefined && (atLeast ?? atMost) !== undefined) fail('count', 'excludes atLeast and atMost');
      if (never && (exact ?? atLeast ?? atMost ?? order ?? minGap) !== undefined) {
        fail('never', 'excludes count, atLeast, atMost, order and minGap');
      }
      if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) fail('atLeast', 'is more than atMost');
    });

  const expectations = z.strictObject({
    after: z.string().max(100).optional(),
    requests: z.array(requestExpectation).max(MAX_REQUESTS).optional(),
    faults: z.strictObject({ everyFired: z.literal(true).optional() }).optional(),
    client: z.union([z.literal(true), z.array(z.enum(CLIENT_RULE_IDS)).min(1).max(100)]).optional(),
  });
  /** All of it but the requests one by one. */
  const outline = expectations.extend({ requests: z.array(z.unknown()).max(MAX_REQUESTS).optional() });
  return { requestExpectation, expectations, outline };
}

const schemas = lazy(createSchemas);

/** What the routes are described with. @internal */
export const expectationsSchema = () => schemas().expectations;

/** Throws `bad_request` that names the member, and what it may be. @internal */
export function readExpectations(given: unknown): Expectations {
  return runSync(expectationSteps(given));
}

/** As `readExpectations`, in steps. @internal */
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
