import { type Oid, parseOid } from '../object/object.js';

/** Parses an id. */
export const oid = parseOid;

/** Parses ids, one per line. */
export function oids(text: string): Oid[] {
  return text === '' ? [] : text.split('\n').map(oid);
}
