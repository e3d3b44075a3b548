import { z } from 'zod';
import { inSlices } from '../git/schedule/steps.js';
import { largeJson } from '../http/reply.js';
import { expectationsSchema } from '../journal/expectations.js';
import { verifyWorld } from '../world/verify-world.js';
import { adminRoute } from './route.js';

const verification = z.object({
  met: z.boolean(),
  unmet: z.array(
    z.looseObject({
      at: z.string().meta({ description: 'Where the expectation stands, such as requests.0.' }),
      found: z.int(),
      detail: z.string(),
      nearest: z.array(z.looseObject({})),
    }),
  ),
  client: z.array(z.looseObject({})).meta({ description: 'The rules for clients that were asked for.' }),
});

export const verifyRequests = adminRoute({
  id: 'verify',
  method: 'POST',
  path: '/verify',
  summary: 'Compare the requests, and the faults they met, with what is expected; what is unmet is no error',
  access: 'token',
  body: z.record(z.string(), z.unknown(), 'Has to be an object'),
  shownBody: expectationsSchema(),
  replies: { 200: verification },
  errors: ['gateway_timeout'],
  handle: async ({ world, body, meter }) => largeJson(200, await inSlices(verifyWorld(world, body), meter)),
});
