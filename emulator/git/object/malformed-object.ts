import type { ObjectType } from './object.js';

/** Error thrown for a malformed object that Git could not read either. */
export class MalformedObject extends Error {
  override readonly name = 'MalformedObject';
  constructor(
    readonly type: ObjectType,
    readonly reason: string,
  ) {
    super(`malformed ${type}: ${reason}`);
  }
}
