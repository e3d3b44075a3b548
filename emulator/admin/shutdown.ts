import { z } from 'zod';
import { json } from '../http/reply.js';
import { adminRoute } from './route.js';

export const shutDown = adminRoute({
  id: 'shutDown',
  method: 'POST',
  path: '/shutdown',
  summary: 'Stop listening, answer what is under way, and end',
  access: 'token',
  body: z.strictObject({}),
  replies: { 202: z.object({ status: z.literal('closing') }) },
  handle: ({ controls }) => {
    controls.shutDown();
    return json(202, { status: 'closing' }, { connection: 'close' });
  },
});
