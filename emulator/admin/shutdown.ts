import { z } from 'zod';
import { json } from '../http/reply.js';
import { adminRoute } from './route.js';

export const shutDown = adminRoute({
  id: 'shutDown',
  method: 'POST',
  path: '/shutdown',
  summary: 'Stop listening, answer what is under way, and end',
  body: z.strictObject({}),
  replies: {
    202: z.object({
      status: z.literal('closing'),
      saved: z
        .literal(false)
        .optional()
        .meta({ description: 'The state could not be saved to the folder of --persist.' }),
    }),
  },
  handle: async ({ controls }) => {
    const isSaved = await controls.shutDown();
    return json(202, { status: 'closing', ...(isSaved === false && { saved: false }) }, { connection: 'close' });
  },
});
