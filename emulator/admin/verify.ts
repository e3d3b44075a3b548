import { z } from 'zod';
import { largeJson } from '../http/reply.js';
import { expectationsSchema } from '../journal/expectations.js';
import { verifyWorld } from '../scenarios/verify-world.js';
import { runYielding } from '../schedule/steps.js';
import { adminRoute } from './route.js';

export type { ClientVerdict, RuleOfClient } from '../journal/client-rules/evaluate.js';
export type { Verification } from '../journal/verify.js';

const verification = z.object({
  met: z.boolean(),
  unmet: z.array(
    z.looseObject({
      at: z.string().meta({
        description:
          'Place of the expectation: requests.0 in the body, faults.ID, scenarios.ID.requests.0, or scenarios.ID.client.RULE.',
      }),
      found: z.int(),
      detail: z.string(),
      nearest: z.array(z.looseObject({})),
    }),
  ),
  client: z.array(z.looseObject({})).meta({ description: 'Results of the rules for clients that were requested.' }),
});

export const verify = adminRoute({
  method: 'POST',
  path: '/verify',
  summary:
    'Verify the requests and the faults against the body, the expect of each fault, and each running scenario; unmet expectations are not an error',
  body: z.record(z.string(), z.unknown(), 'must be a JSON object with expectations'),
  shownBody: expectationsSchema(),
  replies: { 200: verification },
  errors: ['gateway_timeout'],
  handle: async ({ world, body, meter }) => largeJson(200, await runYielding(verifyWorld(world, body), meter)),
});
