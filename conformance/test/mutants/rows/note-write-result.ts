import { type Mutant, proxied } from '../mutant.js';
import { NOTES } from '../places.js';
import { changesJson, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'note-does-not-say-where-the-notes-are-now',
    'note.result.new_ref_sha',
    'does not say where the notes are now',
    setsMember(NOTES, 'new_ref_sha', '', 201),
  ),

  proxied(
    'note-names-its-own-commit',
    'note.result.sha',
    'shows the commit of the notes as the one that the note belongs to',
    changesJson<{ sha: string; new_ref_sha: string }>(
      NOTES,
      (written) => {
        written.sha = written.new_ref_sha;
      },
      201,
    ),
  ),
  proxied(
    'note-forgets-the-base',
    'note.result.base_commit',
    'shows zeros as the base of every note',
    setsMember(NOTES, 'base_commit', '0'.repeat(40), 201),
  ),
  proxied(
    'note-shortens-its-ref',
    'note.result.target_ref',
    'leaves refs/notes/ out of target_ref',
    setsMember(NOTES, 'target_ref', 'commits', 201),
  ),
  proxied(
    'note-calls-a-success-none',
    'note.result.result.success',
    'calls a written note no success',
    setsMember(NOTES, 'result.success', false, 201),
  ),
  proxied(
    'note-calls-a-success-created',
    'note.result.result.status',
    'calls a written note created',
    setsMember(NOTES, 'result.status', 'created', 201),
  ),
];
