import { z } from 'zod';
import { json } from '../../http/reply.js';
import { operationsOf } from '../../operation/operation.js';

const operation = operationsOf('Organization');

/**
 * Returns facts about the hosting of an organization. The specification does not define the format of the cloud
 * location and the inbound addresses, so the emulator uses its own. The IP addresses are from the documentation block
 * of RFC 5737.
 */
export const getOrganization = operation({
  summary: 'Show where the organization is hosted',
  routes: [{ method: 'GET', path: '/api/meta' }],
  scopes: ['org:read'],
  subject: 'organization',
  replies: () => ({
    200: z.object({
      organization: z.string(),
      api_version: z.string(),
      cloud: z.object({ provider: z.string(), region: z.string() }),
      inbound_ips: z.array(z.string()),
    }),
  }),
  handle: ({ organization }) =>
    json(200, {
      organization: organization.name,
      api_version: '1.0.0',
      cloud: { provider: 'emulator', region: 'local' },
      inbound_ips: ['192.0.2.1', '192.0.2.2'],
    }),
});
