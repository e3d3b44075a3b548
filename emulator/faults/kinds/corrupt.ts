import { COUNT, strict } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

export interface Corrupt {
  /** Offset of the response byte to change; undefined for the byte in the middle. */
  readonly flip?: number;
}

export const corrupt: Kind<Corrupt, { readonly bytes?: number }> = {
  about: 'changes one byte of the body: the byte at this offset, or by default the byte in the middle',
  stages: ['response.body', 'git.advertise', 'git.pack', 'git.report'],
  defaults: DEFAULTS.sent,
  keys: { bytes: { about: 'Offset of the byte (default: the middle of the body)', ...COUNT } },
  ofKeys: ({ bytes }) => (bytes === undefined ? {} : { flip: bytes }),
  toKeys: ({ flip }) => (flip === undefined ? {} : { bytes: flip }),
  schema: () => strict({ flip: COUNT.schema() }).partial(),
  endsStage: () => false,
};
