import { type Mutant, proxied } from '../mutant.js';
import { META } from '../places.js';
import { changesJson } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'file-entry-writes-sizes-as-text',
    'file-entry.size.number',
    'writes sizes as text',
    changesJson<{ files: { size: unknown }[] }>(
      META,
      (body) => {
        for (const file of body.files) file.size = String(file.size);
      },
      200,
    ),
  ),
];
