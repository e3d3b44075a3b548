import { type Mutant, proxied } from './mutant.js';
import { isAt, type Place, setsMember } from './rewrites.js';
import { changesResponsesTo, mendsTokens } from './tokens.js';

/**
 * Ids of the rules about tokens of one operation. The key says which token the rule sends: none, an invalid one, one
 * with the wrong scope, or one without the claim `repo`.
 */
type TokenRuleIds = Readonly<Partial<Record<'noHeader' | 'invalid' | 'scope' | 'missingRepo', string>>>;

/**
 * Returns wrong servers for one API operation, one for each rule about tokens in `ids`. `area` is the prefix of their
 * names. `place` selects the requests of the operation.
 */
export function tokenMutants(area: string, place: Place, scope: string, ids: TokenRuleIds): Mutant[] {
  const { noHeader, invalid, scope: scopeRule, missingRepo } = ids;
  const rows: (Mutant | undefined)[] = [
    noHeader &&
      proxied(
        `${area}-answers-403-without-a-token`,
        noHeader,
        'answers 403 without a token',
        changesResponsesTo(
          (request) => isAt(place, request) && request.headers.authorization === undefined,
          (response) => {
            response.status = 403;
          },
        ),
      ),
    invalid &&
      proxied(
        `${area}-checks-no-signature`,
        invalid,
        'does not check signatures',
        mendsTokens(place, ({ claims, isSignedBy }) => (isSignedBy('es256') ? undefined : claims)),
      ),
    scopeRule &&
      proxied(
        `${area}-checks-no-scope`,
        scopeRule,
        `does not ask for ${scope}`,
        mendsTokens(place, ({ claims, scopes }) => ({ ...claims, scopes: [...scopes, scope] })),
      ),
    missingRepo &&
      proxied(
        `${area}-calls-a-missing-repository-not-found`,
        missingRepo,
        'does not say that it is the repository that is missing',
        setsMember(place, 'code', 'not_found', 404),
      ),
  ].map((row) => row || undefined);
  return rows.filter((row) => row !== undefined);
}
