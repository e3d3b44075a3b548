import type { TokenRecipe } from '../../auth/tokens.js';
import { isMember } from '../../check/expect.js';
import type { RequestOptions, RuleContext } from '../../check/rule-context.js';
import { DOCUMENTED_ROUTES } from '../documented-operations.js';
import { forEachPreparedRoute, type PreparedRoute, sendTo } from './prepared-routes.js';

/** Recipe for a bad token, for one route. `repo` and `scopes` default to what the route requires. */
export type RouteToken = TokenRecipe | ((route: PreparedRoute, t: RuleContext) => TokenRecipe);

interface MoreOfSweep {
  /** Filter for routes. Default: all routes. */
  readonly wanted?: (route: Pick<PreparedRoute, 'operation'>) => boolean;
  /** Statuses with which a route may refuse the request. Default: 403 and 401 (A01). */
  readonly statuses?: (route: PreparedRoute) => readonly string[];
}

/** Refusals by a service that does not answer HEAD (A29). Their response has no body, and so no error code. */
const OF_HEAD = ['404', '405'];

/**
 * Expects every route to refuse its request with these options. Leaves out the documented routes, because rules try bad
 * tokens there with `forEachPlace`. Does not check the error code, because some endpoints return none.
 */
export function refuseEverywhere(
  t: RuleContext,
  optionsFor: (route: PreparedRoute) => RequestOptions,
  { wanted = () => true, statuses = () => ['403', '401'] }: MoreOfSweep = {},
): Promise<void> {
  return forEachPreparedRoute(
    t,
    (route) => !DOCUMENTED_ROUTES.has(route.line) && wanted(route),
    async (route) => {
      const response = await sendTo(t, route, optionsFor(route));
      const permitted = [
        ...statuses(route),
        '404 route_not_found',
        ...(route.operation.method === 'HEAD' ? OF_HEAD : []),
      ];
      return permitted.some((one) => isMember(response, one)) ? undefined : `the response is ${response.outcome}`;
    },
  );
}

/** Expects every route to refuse this token. See `refuseEverywhere`. */
export function refuseTokenEverywhere(t: RuleContext, token: RouteToken, more: MoreOfSweep = {}): Promise<void> {
  const recipeFor = (route: PreparedRoute): TokenRecipe => ({
    repo: route.repo,
    scopes: route.operation.scopes,
    ...(typeof token === 'function' ? token(route, t) : token),
  });
  return refuseEverywhere(t, (route) => ({ as: recipeFor(route) }), more);
}
