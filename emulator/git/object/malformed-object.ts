import type { ObjectType } from './object.js';

/** Error thrown for an object that is so malformed that Git could not read it either. */
export class MalformedObject extends Error {
  override readonly name = 'MalformedObject';
  constructor(
    readonly type: ObjectType,
    readonly reason: string,
  ) {
    super(`malformed ${type}: ${reason}`);
  }
}
