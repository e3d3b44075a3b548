import { type Mutant, proxied } from '../mutant.js';
import { NOTES } from '../places.js';
import { changesJson, ignoresMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'note-takes-append-for-add',
    'note.action.append.existing',
    'takes append for add',
    ignoresMember(NOTES, 'action'),
  ),
  proxied(
    'note-says-nothing-of-a-note-that-failed',
    'note.err.body',
    'says nothing of a note that failed',
    changesJson(NOTES, () => ({ message: 'no' }), 409),
  ),
];
