import type { ObjectType } from './object.js';

/** Thrown when an object is so malformed that Git could not read it either. */
export class MalformedObject extends Error {
  override readonly name = 'MalformedObject';
  constructor(
    readonly type: ObjectType,
    readonly reason: string,
  ) {
    super(`malformed ${type}: ${reason}`);
  }
}
