import { type Mutant, proxied } from '../mutant.js';
import { NOTES } from '../places.js';
import { setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'note-does-not-say-where-the-notes-are-now',
    'note.result.new_ref_sha',
    'does not say where the notes are now',
    setsMember(NOTES, 'new_ref_sha', '', 201),
  ),
];
