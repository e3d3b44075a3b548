import { showAddresses, showCa } from './addresses.js';
import { changeClock, showClockRoute } from './clock.js';
import {
  addFault,
  changeFault,
  checkFault,
  listFaultKinds,
  listFaults,
  listLatches,
  releaseLatch,
  removeFault,
  replaceFaults,
  showFault,
  showFaultForms,
  writeFaultForms,
} from './faults.js';
import { addKey, listKeys, removeKey } from './keys.js';
import { createNamespace, listNamespaces, removeNamespace, showNamespace } from './namespaces.js';
import { openRoutes } from './open-routes.js';
import { listOperations } from './operations.js';
import { listAllWebhooks, listDeliveries } from './outbox.js';
import { leadToPage, showPage, showPageFile } from './page.js';
import { changeQuotas, showQuotas } from './quotas.js';
import {
  addRepository,
  listAllRepositories,
  removeRepository,
  showBlob,
  showCommits,
  showRepositoryRoute,
  showRepositoryState,
  showTag,
  showTree,
} from './repositories.js';
import { showBlame, showCommitDiff, showFileContent } from './repository-content.js';
import { showCommitRoute, showGraph } from './repository-history.js';
import { showNotes, showRefs } from './repository-refs.js';
import { followRequests, forgetRequests, listRequests, listSteps, showRequest } from './requests.js';
import type { AdminRoute } from './route.js';
import {
  addScenario,
  listScenarios,
  listShippedScenarios,
  removeScenario,
  showScenario,
  startScenario,
} from './scenarios.js';
import { shutDown } from './shutdown.js';
import { listSnapshots, removeSnapshot, reset, restoreSnapshot, takeSnapshot } from './snapshots.js';
import { changeState, listVariants, showState } from './state.js';
import { mintTokenRoute } from './tokens.js';
import { exportState, importState } from './transfer.js';
import { verifyRequests } from './verify.js';

/** Every route of the admin API. Of two that fit a path the first one counts. */
export const adminRoutes: readonly AdminRoute[] = [
  ...openRoutes,
  leadToPage,
  showPage,
  showPageFile,
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
  listVariants,
  takeSnapshot,
  listSnapshots,
  removeSnapshot,
  restoreSnapshot,
  showClockRoute,
  changeClock,
  listFaultKinds,
  listFaults,
  addFault,
  checkFault,
  writeFaultForms,
  replaceFaults,
  showFault,
  showFaultForms,
  changeFault,
  removeFault,
  listLatches,
  releaseLatch,
  showQuotas,
  changeQuotas,
  listShippedScenarios,
  listScenarios,
  addScenario,
  showScenario,
  removeScenario,
  startScenario,
  listKeys,
  addKey,
  removeKey,
  mintTokenRoute,
  listSteps,
  listRequests,
  forgetRequests,
  followRequests,
  showRequest,
  listAllWebhooks,
  listDeliveries,
  listAllRepositories,
  addRepository,
  showRepositoryRoute,
  removeRepository,
  showRepositoryState,
  showRefs,
  showNotes,
  showGraph,
  showCommits,
  showCommitRoute,
  showCommitDiff,
  showTree,
  showBlob,
  showTag,
  showFileContent,
  showBlame,
  exportState,
  importState,
];
