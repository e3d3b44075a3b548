import { COUNT } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

export interface DropObject {
  /** Index of the blob to omit, among the blobs of the pack that a fetch receives, counted from 0. Default: 0. */
  readonly bytes?: number;
}

export const drop_object: Kind<DropObject> = {
  about: 'sends a valid pack in which the n-th blob (counted from 0) is missing',
  stages: ['git.pack'],
  defaults: DEFAULTS.sent,
  keys: { bytes: COUNT },
  endsStage: () => false,
};
