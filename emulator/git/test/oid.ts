import { isOid, type Oid } from '../object/object.js';

/** The id that `text` writes. */
export function oid(text: string): Oid {
  if (!isOid(text)) throw new RangeError(`${JSON.stringify(text)} is no object id`);
  return text;
}

/** The ids in the lines of `text`. */
export function oids(text: string): Oid[] {
  return text === '' ? [] : text.split('\n').map(oid);
}
