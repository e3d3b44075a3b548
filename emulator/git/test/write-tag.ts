import { type ByteString, bytesOf } from '../object/bytes.js';
import { type Identity, writeIdentity } from '../object/identity.js';
import type { ObjectType, Oid } from '../object/object.js';

interface Tag {
  readonly object: Oid;
  readonly type: ObjectType;
  readonly tag: ByteString;
  readonly tagger: Identity;
  readonly message: string;
}

/** Returns the body of a tag object as `git tag -a` writes it. */
export function writeTag({ object, type, tag, tagger, message }: Tag): Buffer {
  const head = `object ${object}\ntype ${type}\ntag ${tag}\ntagger ${writeIdentity(tagger)}\n`;
  return Buffer.from(`${head}\n${bytesOf(message.replaceAll('\0', ''))}`, 'latin1');
}
