import { type Oid, oidIn } from '../object/object.js';
import { OID_BYTES } from '../object/oid-slots.js';

/**
 * Ids among the first `count` that start with the digits `prefix`, in order, at most `limit`.
 *
 * A scan: abbreviated ids are for people, and a million ids are looked through in some milliseconds.
 */
export function findPrefix(oids: Uint8Array, count: number, prefix: string, limit: number): Oid[] {
  const whole = prefix.length >> 1;
  const wanted = Buffer.from(prefix.slice(0, whole * 2), 'hex');
  const half = prefix.length % 2 === 0 ? -1 : Number.parseInt(prefix.slice(-1), 16);
  const found: Oid[] = [];
  for (let at = 0, end = count * OID_BYTES; at < end; at += OID_BYTES) {
    let same = 0;
    while (same < whole && oids[at + same] === wanted[same]) same++;
    if (same < whole || (half >= 0 && oids[at + whole]! >> 4 !== half)) continue;
    found.push(oidIn(Buffer.from(oids.buffer, oids.byteOffset + at, OID_BYTES)));
  }
  return found.sort().slice(0, limit);
}
