import { type AdminToken, checkAdmin } from '../admin/guard.js';
import { isOpenPath } from '../admin/open-routes.js';
import { isPagePath } from '../admin/path.js';
import { hostOf } from '../http/host.js';
import type { EntryStep } from './request-context.js';

/** Step: who may use the admin routes. The host that the request names is a served one by now. */
export function guardAdmin(token: AdminToken | undefined): EntryStep {
  return ({ isForAdmin, request, target }) => {
    if (!isForAdmin) return;
    const authority = target.authority ?? hostOf(request.rawHeaders);
    const isPage = isPagePath(target.path);
    checkAdmin({ request, authority, isOpen: isPage || isOpenPath(target.path), isPage }, token);
  };
}
