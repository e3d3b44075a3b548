import { type BlameRequest, blame, NoSuchFile } from '../git/blame/blame.js';
import { BlameMemory } from '../git/blame/blame-memory.js';
import type { BlamedLines } from '../git/blame/blamed-lines.js';
import { BadLineRange } from '../git/blame/line-ranges.js';
import { problem } from '../http/problem.js';
import { translateError } from '../http/translate-error.js';
import type { Repository } from '../repositories/repository.js';
import type { Meter } from '../schedule/meter.js';

/** Blames a file. Throws `missing()` if there is none, and `bad_request` for a range that is invalid. */
export async function blameOrRefuse(
  { meter }: { readonly meter: Meter },
  { id, git, content }: Repository,
  asked: Omit<BlameRequest, 'known' | 'meter'>,
  missing: () => Error,
): Promise<BlamedLines[]> {
  await git.history.extend([asked.commit], meter);
  const blames = content.answers.shared(BlameMemory, () => new BlameMemory(content.answers));
  const lines = () => blame(git.objects, git.history.graph, { ...asked, known: blames.of(id), meter });
  return translateError(
    NoSuchFile,
    () => translateError(BadLineRange, lines, ({ message }) => problem('bad_request', `range: ${message}.`)),
    missing,
  );
}
