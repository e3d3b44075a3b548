import { COUNT } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

export interface DropObject {
  /** Number of the blob in the pack, counted from 0; default 0. */
  readonly bytes?: number;
}

export const drop_object: Kind<DropObject> = {
  about: 'a valid pack in which the n-th blob (counted from 0) is missing',
  stages: ['git.pack'],
  defaults: DEFAULTS.sent,
  keys: { bytes: COUNT },
  endsStage: () => false,
};
