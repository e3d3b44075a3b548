import type { Row } from '../row.js';
import { CONCURRENT_PUSH_ROWS } from './concurrent.js';
import { CONFORMANCE_ROWS } from './conformance.js';
import { FAULT_ROWS, SERVICE_ROWS, type ServicePlace } from './service.js';
import { TEST_LIFE_ROWS } from './test-life.js';
import { WORLD_ROWS } from './worlds.js';

export { ROWS_OF_REPOSITORY } from './repository.js';

/** Benchmarks that do not depend on a repository, so that they are measured only once. */
export const ROWS_OF_SERVICE: readonly Row<ServicePlace>[] = [
  ...SERVICE_ROWS,
  ...TEST_LIFE_ROWS,
  ...CONCURRENT_PUSH_ROWS,
  ...WORLD_ROWS,
  ...FAULT_ROWS,
  ...CONFORMANCE_ROWS,
];
