import { type Oid, parseOid } from '../object/object.js';

/** The id that a text writes. */
export const oid = parseOid;

/** The ids in the lines of `text`. */
export function oids(text: string): Oid[] {
  return text === '' ? [] : text.split('\n').map(oid);
}
