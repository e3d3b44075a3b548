import { type Mutant, proxied } from '../mutant.js';
import { FILE } from '../places.js';
import { ignoresParameter, isAt } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied('file-changes-a-byte', 'file.bytes', 'changes a byte', {
    response: ({ request, status, body }) => {
      if (isAt(FILE, request) && status === 200 && body.length > 0) body.writeUInt8(body.readUInt8() ^ 1);
    },
  }),
  proxied(
    'file-ignores-ephemeral',
    'file.ephemeral.true',
    'does not look at ephemeral',
    ignoresParameter(FILE, 'ephemeral'),
  ),
];
