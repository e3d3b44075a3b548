import type { ObjectType } from './object.js';

/** Thrown when the bytes of an object are not what its type demands, so that Git could not read it either. */
export class MalformedObject extends Error {
  override readonly name = 'MalformedObject';
  constructor(
    readonly type: ObjectType,
    readonly reason: string,
  ) {
    super(`malformed ${type}: ${reason}`);
  }
}
