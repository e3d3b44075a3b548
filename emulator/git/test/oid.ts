import { type Oid, parseOid } from '../object/object.js';

/** Checks that a text is an object id, and returns it as `Oid`. Throws a `TypeError` if it is not. */
export const oid = parseOid;

/** Parses object ids, one per line. Returns an empty list for an empty text. */
export function oids(text: string): Oid[] {
  return text === '' ? [] : text.split('\n').map(oid);
}
