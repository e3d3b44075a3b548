import { COST } from '../../schedule/cost.js';
import { PIECE, type Steps } from '../../schedule/steps.js';
import { checkHeaderEnd, checkIdentity, HeaderCursor } from './header.js';
import { type Finding, finding } from './messages.js';

/**
 * Checks the body of a commit as `git fsck` does. Returns the first finding, because Git also stops there; undefined if
 * the body is valid.
 */
export function* checkCommit(body: Buffer): Steps<Finding | undefined> {
  const nul = body.indexOf(0);
  return checkHeaderEnd(body, nul) ?? (yield* checkLines(new HeaderCursor(body))) ?? checkNul(nul);
}

function* checkLines(cursor: HeaderCursor): Steps<Finding | undefined> {
  if (!cursor.skip('tree ')) return finding('missingTree', "invalid format - expected 'tree' line");
  if (!cursor.skipOidLine()) return finding('badTreeSha1', "invalid 'tree' line format - bad sha1");
  for (let parents = 1; cursor.skip('parent '); parents++) {
    if (parents % PIECE === 0) yield PIECE * COST.line;
    if (!cursor.skipOidLine()) return finding('badParentSha1', "invalid 'parent' line format - bad sha1");
  }
  let authors = 0;
  for (; cursor.skip('author '); authors++) {
    const issue = checkIdentity(cursor);
    if (issue) return issue;
    if (authors % PIECE === PIECE - 1) yield PIECE * COST.line;
  }
  if (authors === 0) return finding('missingAuthor', "invalid format - expected 'author' line");
  if (authors > 1) return finding('multipleAuthors', "invalid format - multiple 'author' lines");
  if (!cursor.skip('committer ')) return finding('missingCommitter', "invalid format - expected 'committer' line");
  return checkIdentity(cursor);
}

function checkNul(nul: number): Finding | undefined {
  return nul < 0 ? undefined : finding('nulInCommit', 'NUL byte in the commit object body');
}
