import { createHash } from 'node:crypto';
import { ZEROS } from '../api/requests.js';
import type { TokenRecipe } from '../auth/tokens.js';
import type { Answer } from '../check/answer.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { gitPath } from '../http/git-remote.js';
import { FLUSH, writePkt } from '../http/pkt-line.js';
import { requestGit } from './refs.js';

/**
 * A pack without objects (gitformat-pack): the header with version 2 and no object, then the checksum. What Git sends
 * where the other side has everything.
 */
function emptyPack(): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  return Buffer.concat([header, createHash('sha1').update(header).digest()]);
}

/** Branches and tags by their full names, and the commits that they are to stand at. */
export type NewRefs = Readonly<Record<string, string>>;

/**
 * The one request of a push that makes refs at commits which are there already, without the advertisement that a client
 * asks for first: how a service treats the request itself cannot be seen otherwise. Without a recipe no credential is
 * sent.
 */
export function pushRefs(
  t: RuleContext,
  repo: string,
  refs: NewRefs,
  recipe?: TokenRecipe,
  options: RequestOptions = {},
): Promise<Answer> {
  const commands = Object.entries(refs).map(([name, sha], index) =>
    writePkt(`${ZEROS} ${sha} ${name}${index === 0 ? '\0 report-status' : ''}\n`),
  );
  return requestGit(t, 'POST', `${gitPath(repo)}/git-receive-pack`, recipe, {
    body: Buffer.concat([...commands, FLUSH, emptyPack()]),
    contentType: 'application/x-git-receive-pack-request',
    ...options,
  });
}
