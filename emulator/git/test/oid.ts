import { type Oid, parseOid } from '../object/object.js';

/** Returns a text as an object id. Throws a `TypeError` if it is not an id. */
export const oid = parseOid;

/** Parses object ids, one per line. An empty text has none. */
export function oids(text: string): Oid[] {
  return text === '' ? [] : text.split('\n').map(oid);
}
