import { COST } from '../schedule/cost.js';
import { atOnce, type Steps } from '../schedule/steps.js';
import { type ByteString, bytesIn, bytesOf, sliceBytes, splitBytes } from './bytes.js';
import { commitLinks } from './commit.js';
import { type Identity, parseIdentity, writeIdentity } from './identity.js';
import { MalformedObject } from './malformed-object.js';
import { COMMIT, isOid, numberOf, type ObjectReader, type ObjectType, type Oid, readAs, TAG, TREE } from './object.js';
import { decodeText } from './text-encoding.js';

const LF = 0x0a;

export interface Tag {
  readonly object: Oid;
  readonly type: ObjectType;
  /** The name the tag was made under, without `refs/tags/`. */
  readonly tag: ByteString;
  /** Absent from tags of Git's first months. */
  readonly tagger?: Identity;
  /** Everything after the header, verbatim; a signature is its last part. */
  readonly message: string;
}

export function readTag(objects: ObjectReader, oid: Oid): Tag {
  return parseTag(readAs(objects, oid, TAG));
}

/**
 * Reads a tag object:
 *
 *     object <oid>
 *     type <commit|tree|blob|tag>
 *     tag <name>
 *     tagger <identity>
 *     <empty line>
 *     <message>
 *
 * The first three lines have to be there, as for Git; throws `MalformedObject` otherwise.
 */
export function parseTag(body: Buffer): Tag {
  const split = body.indexOf('\n\n', 0, 'latin1');
  const [object, type, tag, ...rest] = splitBytes(bytesIn(body, 0, split < 0 ? body.length : split), '\n');
  if (tag === undefined || !tag.startsWith('tag ')) throw new MalformedObject('tag', 'no tag line');
  const encoding = rest.find((line) => line.startsWith('encoding '))?.slice('encoding '.length);
  const tagger = rest[0]?.startsWith('tagger ') ? sliceBytes(rest[0], 'tagger '.length) : undefined;
  return {
    object: parseObjectLine(object),
    type: parseTypeLine(type),
    tag: sliceBytes(tag, 'tag '.length),
    ...(tagger !== undefined && { tagger: parseIdentity(tagger, encoding) }),
    message: split < 0 ? '' : decodeText(bytesIn(body, split + 2), encoding),
  };
}

function parseObjectLine(line: ByteString | undefined): Oid {
  const oid = line?.slice('object '.length).toLowerCase() ?? '';
  if (!line?.startsWith('object ') || !isOid(oid)) throw new MalformedObject('tag', 'no object line');
  return oid;
}

function parseTypeLine(line: ByteString | undefined): ObjectType {
  const match = /^type (commit|tree|blob|tag)$/.exec(line ?? '');
  if (!match) throw new MalformedObject('tag', 'no type line');
  return match[1] as ObjectType;
}

/** Writes a tag in UTF-8. */
export function writeTag({ object, type, tag, tagger, message }: Tag): Buffer {
  const head = `object ${object}\ntype ${type}\ntag ${tag}\n${tagger ? `tagger ${writeIdentity(tagger)}\n` : ''}`;
  return Buffer.from(`${head}\n${bytesOf(message.replaceAll('\0', ''))}`, 'latin1');
}

/** The object a tag object names, without reading the rest. Throws `MalformedObject`. */
export function tagTarget(body: Buffer): Oid {
  return parseObjectLine(bytesIn(body, 0, body[47] === LF ? 47 : 48));
}

/** `oid` itself, or what it names when it is a tag, of a tag, of a tag. Throws `MissingObject`, `MalformedObject`. */
export function peel(objects: ObjectReader, oid: Oid): Oid {
  return atOnce(peelTags(objects, oid));
}

/** As `peel`, in steps. */
export function* peelTags(objects: ObjectReader, oid: Oid): Steps<Oid> {
  let peeled = oid;
  // It ends: tags cannot form a circle, and chains in a repository were followed when they came in.
  for (;;) {
    const number = numberOf(objects, peeled);
    if (objects.typeOf(number) !== TAG) return peeled;
    const known = objects.peeledOf?.(number);
    if (known !== undefined) return objects.oidOf(known);
    peeled = tagTarget(objects.read(number));
    yield COST.object;
  }
}

/** The commit that `oid` is, or that its tags lead to; undefined when they lead to something else. */
export function peelToCommit(objects: ObjectReader, oid: Oid): Oid | undefined {
  return atOnce(findCommit(objects, oid));
}

/** As `peelToCommit`, in steps. */
export function* findCommit(objects: ObjectReader, oid: Oid): Steps<Oid | undefined> {
  const peeled = yield* peelTags(objects, oid);
  return objects.typeOf(numberOf(objects, peeled)) === COMMIT ? peeled : undefined;
}

/** The tree that `oid` is, or that its tags and commit lead to; undefined for a blob. */
export function peelToTree(objects: ObjectReader, oid: Oid): Oid | undefined {
  return atOnce(findTree(objects, oid));
}

/** As `peelToTree`, in steps. */
export function* findTree(objects: ObjectReader, oid: Oid): Steps<Oid | undefined> {
  const peeled = yield* peelTags(objects, oid);
  const number = numberOf(objects, peeled);
  const type = objects.typeOf(number);
  if (type === COMMIT) return commitLinks(objects.read(number)).tree;
  return type === TREE ? peeled : undefined;
}
