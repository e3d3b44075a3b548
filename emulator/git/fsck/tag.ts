import { type ByteString, bytesIn, bytesOf, concatBytes } from '../object/bytes.js';
import { refNameIssue } from '../refs/ref-name.js';
import { checkHeaderEnd, checkIdentity, HeaderCursor } from './header.js';
import { type Finding, finding } from './messages.js';

const TAGS = bytesOf('refs/tags/');
const TYPE = /^(?:commit|tree|blob|tag)$/;

/**
 * Checks the body of an annotated tag as `git fsck` does. Returns the findings up to the first one that makes a strict
 * server refuse the tag.
 */
export function checkTag(body: Buffer): Finding[] {
  const end = checkHeaderEnd(body, body.indexOf(0));
  return end ? [end] : checkLines(new HeaderCursor(body));
}

function checkLines(cursor: HeaderCursor): Finding[] {
  if (!cursor.skip('object ')) return [finding('missingObject', "invalid format - expected 'object' line")];
  if (!cursor.skipOidLine()) return [finding('badObjectSha1', "invalid 'object' line format - bad sha1")];
  if (!cursor.skip('type ')) return [finding('missingTypeEntry', "invalid format - expected 'type' line")];
  const type = restOfLine(cursor);
  if (type === undefined) return [finding('missingType', "invalid format - unexpected end after 'type' line")];
  if (!TYPE.test(type)) return [finding('badType', "invalid 'type' value")];
  if (!cursor.skip('tag ')) return [finding('missingTagEntry', "invalid format - expected 'tag' line")];
  const name = restOfLine(cursor);
  if (name === undefined) return [finding('missingTag', "invalid format - unexpected end after 'type' line")];
  const findings: Finding[] = [];
  if (refNameIssue(concatBytes(TAGS, name)) !== undefined) {
    findings.push(finding('badTagName', `invalid 'tag' name: ${name}`));
  }
  if (cursor.skip('tagger ')) {
    const issue = checkIdentity(cursor);
    if (issue) findings.push(issue);
  } else {
    findings.push(finding('missingTaggerEntry', "invalid format - expected 'tagger' line"));
  }
  return findings;
}

function restOfLine(cursor: HeaderCursor): ByteString | undefined {
  const start = cursor.at;
  const end = cursor.skipLine();
  return end < 0 ? undefined : bytesIn(cursor.body, start, end);
}
