import { showAddresses, showCa } from './addresses.js';
import { changeClock, showClockRoute } from './clock.js';
import { addFault, changeFault, listFaults, releaseLatch, removeFault, replaceFaults, showFault } from './faults.js';
import { addKey, listKeys, removeKey } from './keys.js';
import { createNamespace, listNamespaces, removeNamespace, showNamespace } from './namespaces.js';
import { openRoutes } from './open-routes.js';
import { listOperations } from './operations.js';
import { listDeliveries } from './outbox.js';
import { changeQuotas, showQuotas } from './quotas.js';
import {
  addRepository,
  listAllRepositories,
  removeRepository,
  showBlob,
  showCommits,
  showRefs,
  showRepositoryRoute,
  showRepositoryState,
  showTree,
} from './repositories.js';
import { followRequests, forgetRequests, listRequests, showRequest } from './requests.js';
import type { AdminRoute } from './route.js';
import { addScenario, listScenarios, removeScenario, showScenario, startScenario } from './scenarios.js';
import { shutDown } from './shutdown.js';
import { listSnapshots, removeSnapshot, reset, restoreSnapshot, takeSnapshot } from './snapshots.js';
import { changeState, showState } from './state.js';
import { mintTokenRoute } from './tokens.js';
import { exportState, importState } from './transfer.js';
import { verifyRequests } from './verify.js';

/** Every route of the admin API. Of two that fit a path the first one counts. */
export const adminRoutes: readonly AdminRoute[] = [
  ...openRoutes,
  listOperations,
  showAddresses,
  showCa,
  reset,
  verifyRequests,
  shutDown,
  createNamespace,
  listNamespaces,
  showNamespace,
  removeNamespace,
  showState,
  changeState,
  takeSnapshot,
  listSnapshots,
  removeSnapshot,
  restoreSnapshot,
  showClockRoute,
  changeClock,
  listFaults,
  addFault,
  replaceFaults,
  showFault,
  changeFault,
  removeFault,
  releaseLatch,
  showQuotas,
  changeQuotas,
  listScenarios,
  addScenario,
  showScenario,
  removeScenario,
  startScenario,
  listKeys,
  addKey,
  removeKey,
  mintTokenRoute,
  listRequests,
  forgetRequests,
  followRequests,
  showRequest,
  listDeliveries,
  listAllRepositories,
  addRepository,
  showRepositoryRoute,
  removeRepository,
  showRepositoryState,
  showRefs,
  showCommits,
  showTree,
  showBlob,
  exportState,
  importState,
];
