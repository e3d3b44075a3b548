import { OPERATION_IDS } from '../config/operation-ids.js';
import type { Operation } from '../operation/operation.js';
import * as rows from './rows.js';

/** Every operation of the service, in the order of `OPERATION_IDS`. */
export const operations: readonly Operation[] = OPERATION_IDS.map((id) => Object.assign(rows[id], { id }));
