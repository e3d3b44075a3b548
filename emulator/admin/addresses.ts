import { z } from 'zod';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { addressesRecord } from './controls.js';
import { adminRoute } from './route.js';

export const showAddresses = adminRoute({
  path: '/addresses',
  summary: 'List the addresses of the organizations',
  replies: { 200: addressesRecord },
  handle: ({ controls }) => json(200, controls.addresses()),
});

export const showCa = adminRoute({
  path: '/ca',
  summary: 'Print the certificate that clients must trust for HTTPS (PEM)',
  replies: { 200: z.object({ certificate: z.string() }) },
  errors: ['not_found'],
  handle: ({ controls: { trust } }) => {
    if (trust === undefined)
      throw problem('not_found', 'The emulator does not serve HTTPS. Start it with --tls to have a certificate.');
    return json(200, { certificate: trust });
  },
});

export const shutDown = adminRoute({
  method: 'POST',
  path: '/shutdown',
  summary: 'Stop listening, finish the requests in progress, and exit',
  body: z.strictObject({}),
  replies: {
    202: z.object({
      status: z.literal('closing'),
      saved: z
        .literal(false)
        .optional()
        .meta({ description: 'False if the state could not be saved to the folder of --persist; absent otherwise.' }),
    }),
  },
  handle: async ({ controls }) => {
    const isSaved = await controls.shutDown();
    return json(202, { status: 'closing', ...(isSaved === false && { saved: false }) }, { connection: 'close' });
  },
});
