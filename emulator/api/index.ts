import { OPERATION_IDS, type OperationId } from '../config/operation-ids.js';
import type { Operation, OperationRow } from '../operation/operation.js';
import * as rows from './rows.js';

const rowsById: Readonly<Record<OperationId, OperationRow>> = rows;

/** All operations of the API, each with its id, in the order of `OPERATION_IDS`. */
export const operations: readonly Operation[] = OPERATION_IDS.map((id) => Object.assign(rowsById[id], { id }));
