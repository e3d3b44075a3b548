import { COUNT } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

export interface DropObject {
  /** Number of the blob in the pack, counted from 0; default 0. */
  readonly bytes?: number;
}

export const drop_object: Kind<DropObject> = {
  about: 'a pack without its n-th blob, counted from 0, which is otherwise whole',
  stages: ['git.pack'],
  defaults: DEFAULTS.sent,
  keys: { bytes: COUNT },
  endsStage: () => false,
};
