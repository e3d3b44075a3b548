import { type ObjectReader, type Oid, ZERO_OID } from '../object/object.js';

const SHORTEST = 7;

/** The first digits of `oid`, as many as Git prints: 7 or, of many objects, more, and enough to be unique. */
export function abbreviateOid(objects: ObjectReader, oid: Oid): string {
  const bits = Math.floor(Math.log2(Math.max(1, objects.size))) + 1;
  const usual = Math.max(SHORTEST, Math.ceil(bits / 2));
  if (oid === ZERO_OID) return oid.slice(0, usual);
  for (let length = usual; length < oid.length; length++) {
    if (objects.findPrefix(oid.slice(0, length), 2).length < 2) return oid.slice(0, length);
  }
  return oid;
}
