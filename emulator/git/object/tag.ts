import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type ByteString, bytesIn, NO_BYTES, textOf } from './bytes.js';
import { commitLinks, parseHeaders } from './commit.js';
import { type Identity, parseIdentity } from './identity.js';
import { MalformedObject } from './malformed-object.js';
import { COMMIT, isOid, numberOf, type ObjectReader, type Oid, TAG, TREE } from './object.js';

const KEY = 'object ';
const LF = 0x0a;

/**
 * Returns the id of the object that an annotated tag refers to. `body` has this form:
 *
 *     object <oid>
 *     (type, name, tagger and message, which are ignored)
 *
 * Throws `MalformedObject` if the first line is malformed.
 */
export function tagTarget(body: Buffer): Oid {
  const oid = bytesIn(body, KEY.length, KEY.length + 40).toLowerCase();
  const end = body[KEY.length + 40];
  if (bytesIn(body, 0, KEY.length) !== KEY || !isOid(oid) || (end !== undefined && end !== LF)) {
    throw new MalformedObject('tag', 'no object line');
  }
  return oid;
}

export interface Tag {
  readonly object: Oid;
  /** Type of the tagged object, as stated in the tag. */
  readonly type: string;
  readonly name: string;
  /** Author of the tag; undefined if absent. Tags from Git's first year have no tagger. */
  readonly tagger?: Identity;
  /** Text after the headers, unchanged. The signature of a signed tag is at its end. */
  readonly message: string;
}

/**
 * Parses the body of a tag object:
 *
 *     object <oid>
 *     type <type>
 *     tag <name>
 *     tagger <identity>
 *     <empty line>
 *     <message>
 *
 * Only the first line must be well-formed. Throws `MalformedObject` if it is not.
 */
export function parseTag(body: Buffer): Tag {
  const object = tagTarget(body);
  const split = body.indexOf('\n\n', 0, 'latin1');
  const headers = new Map(parseHeaders(bytesIn(body, 0, split < 0 ? body.length : split)).reverse());
  const tagger = headers.get('tagger' as ByteString);
  return {
    object,
    type: textOf(headers.get('type' as ByteString) ?? NO_BYTES),
    name: textOf(headers.get('tag' as ByteString) ?? NO_BYTES),
    ...(tagger !== undefined && { tagger: parseIdentity(tagger) }),
    message: split < 0 ? '' : textOf(bytesIn(body, split + 2)),
  };
}

/**
 * Follows a chain of annotated tags that begins with `oid`, and returns the id of the object at its end. Returns `oid`
 * itself if it is not a tag. Throws `MissingObject` and `MalformedObject`.
 */
export function* peelTags(objects: ObjectReader, oid: Oid): Steps<Oid> {
  let peeled = oid;
  // The loop ends, because tags cannot form a cycle. It is short, because the store records the end of each tag chain
  // when it receives the tags.
  for (;;) {
    const number = numberOf(objects, peeled);
    if (objects.typeOf(number) !== TAG) return peeled;
    const known = objects.peeledOf?.(number);
    if (known !== undefined) return objects.oidOf(known);
    peeled = tagTarget(objects.read(number));
    yield COST.object;
  }
}

/**
 * Returns the id of the commit that `oid` refers to, directly or through annotated tags. Returns undefined if `oid`
 * refers to another type of object.
 */
export function* findCommit(objects: ObjectReader, oid: Oid): Steps<Oid | undefined> {
  const peeled = yield* peelTags(objects, oid);
  return objects.typeOf(numberOf(objects, peeled)) === COMMIT ? peeled : undefined;
}

/** Returns the commits that the ids refer to, as `findCommit` does. Ids of other objects are omitted. */
export function* findCommits(objects: ObjectReader, oids: Iterable<Oid>): Steps<Oid[]> {
  const commits: Oid[] = [];
  for (const oid of oids) {
    const commit = yield* findCommit(objects, oid);
    if (commit !== undefined) commits.push(commit);
  }
  return commits;
}

/**
 * Returns the id of the tree that `oid` refers to, directly or through annotated tags or a commit. Returns undefined if
 * `oid` refers to a blob.
 */
export function* findTree(objects: ObjectReader, oid: Oid): Steps<Oid | undefined> {
  const peeled = yield* peelTags(objects, oid);
  const number = numberOf(objects, peeled);
  const type = objects.typeOf(number);
  if (type === COMMIT) return commitLinks(objects.read(number)).tree;
  return type === TREE ? peeled : undefined;
}
