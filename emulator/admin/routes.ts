import * as addresses from './addresses.js';
import * as clock from './clock.js';
import * as faults from './faults.js';
import * as keys from './keys.js';
import * as namespaces from './namespaces.js';
import { openRoutes } from './open-routes.js';
import * as operations from './operations.js';
import * as outbox from './outbox.js';
import * as page from './page.js';
import * as quotas from './quotas.js';
import * as repositories from './repositories.js';
import * as repositoryContent from './repository-content.js';
import * as repositoryHistory from './repository-history.js';
import * as repositoryRefs from './repository-refs.js';
import * as requests from './requests.js';
import type { AdminRoute } from './route.js';
import * as scenarios from './scenarios.js';
import * as snapshots from './snapshots.js';
import * as state from './state.js';
import * as tokens from './tokens.js';
import * as transfer from './transfer.js';
import * as verify from './verify.js';

/** Modules of routes: every export of one is a route. */
const modules: readonly Readonly<Record<string, AdminRoute>>[] = [
  page,
  operations,
  addresses,
  snapshots,
  verify,
  namespaces,
  state,
  clock,
  faults,
  quotas,
  scenarios,
  keys,
  tokens,
  requests,
  outbox,
  repositories,
  repositoryRefs,
  repositoryHistory,
  repositoryContent,
  transfer,
];

/** Every route of the admin API, those with fewer parameters first: of two that match a path, the router takes the first. */
export const adminRoutes: readonly AdminRoute[] = [
  ...openRoutes,
  ...modules.flatMap((module) => Object.values(module)),
].sort((one, other) => one.path.split('{').length - other.path.split('{').length);
