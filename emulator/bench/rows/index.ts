import type { Row } from '../row.js';
import type { Stage } from '../stage.js';
import { API_ROWS } from './api.js';
import { CLIENT_ROWS } from './client.js';
import { CONFORMANCE_ROWS } from './conformance.js';
import { ENGINE_ROWS } from './engine.js';
import { FIRST_ROWS } from './first.js';
import { FORK_ROWS } from './fork.js';
import { LONE_INGEST_ROWS } from './lone-ingest.js';
import { SERVICE_ROWS, type ServicePlace } from './service.js';
import { TEST_LIFE_ROWS } from './test-life.js';
import { WIRE_ROWS } from './wire.js';
import { WORLD_ROWS } from './worlds.js';

/** Measured once. */
export const ROWS_OF_SERVICE: readonly Row<ServicePlace>[] = [
  ...SERVICE_ROWS,
  ...TEST_LIFE_ROWS,
  ...WORLD_ROWS,
  ...CONFORMANCE_ROWS,
];

/** Measured on each repository. */
export const ROWS_OF_REPOSITORY: readonly Row<Stage>[] = [
  ...ENGINE_ROWS,
  ...FIRST_ROWS,
  ...WIRE_ROWS,
  ...CLIENT_ROWS,
  ...API_ROWS,
  ...FORK_ROWS,
  ...LONE_INGEST_ROWS,
];
