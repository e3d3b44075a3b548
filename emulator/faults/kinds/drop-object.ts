import { COUNT } from '../key.js';
import { DEFAULTS, type Kind } from './kind.js';

export interface DropObject {
  /**
   * Index of the blob to omit from the pack that a fetch receives, among the blobs of the pack. Default: 0, the first
   * blob.
   */
  readonly bytes?: number;
}

export const drop_object: Kind<DropObject> = {
  about: 'sends a valid pack in which the n-th blob (counted from 0) is missing',
  stages: ['git.pack'],
  defaults: DEFAULTS.sent,
  keys: { bytes: { about: 'Index of the blob to omit, among the blobs of the pack (default: 0)', ...COUNT } },
  endsStage: () => false,
};
