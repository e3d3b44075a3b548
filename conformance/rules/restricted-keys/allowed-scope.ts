import type { TokenRecipe } from '../../auth/tokens.js';
import type { Answer } from '../../check/answer.js';
import { expectRefused, expectTrue } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import { advertise, showsRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { type DocumentedOperation, documentedOperation, type Scope } from '../documented-operations.js';

/** The scopes that the restricted key may give. Skips the rule where nobody said. */
export function allowedScopes(t: RuleContext): readonly string[] {
  const { allowedScopes } = t.key('restricted');
  if (allowedScopes === undefined) throw new Skip('needs the allowlist of the restricted key: --restricted-scopes');
  return allowedScopes;
}

/** A request that a scope is enough for and that changes nothing. */
interface Trial {
  readonly scope: Scope;
  readonly send: (t: RuleContext, recipe: TokenRecipe) => Promise<Answer>;
  /** Whether a token was refused as invalid. Throws `AssertionFailure`. */
  readonly expectTokenRefused: (t: RuleContext, answer: Answer) => void;
}

function trialOf(name: string): Trial {
  const { scope, repo, send } = documentedOperation(name);
  return {
    scope,
    send: async (t, recipe) => {
      const name = await repo(t);
      const claim = scope === 'org:read' ? {} : { repo: name };
      return send(t, name, { as: { ...claim, scopes: [scope], key: 'restricted', ...recipe } });
    },
    expectTokenRefused: (t, answer) => t.expectTokenRefused(answer, name),
  };
}

const PUSH: Trial = {
  scope: 'git:write',
  send: async (t, recipe) => {
    const { name: repo } = await sampleRepository(t);
    const as: TokenRecipe = { repo, scopes: ['git:write'], key: 'restricted', ...recipe };
    return advertise(t, gitPath(repo), as, 'git-receive-pack');
  },
  expectTokenRefused: (t, answer) => {
    expectRefused(answer);
    expectTrue(!showsRefs(answer), 'no ref is shown');
    t.tolerate('A35', 'invalid token, Git', answer, ['403', '401', '404']);
  },
};

const TRIALS: readonly Trial[] = [trialOf('repo'), trialOf('meta'), PUSH];

/** What tokens of the restricted key are tried on. Where its allowlist is not known, what it is enough for is looked for. */
export async function allowedTrial(t: RuleContext): Promise<Trial> {
  const { allowedScopes } = t.key('restricted');
  for (const trial of TRIALS) {
    if (allowedScopes?.includes(trial.scope) ?? (await trial.send(t, {})).status === 200) return trial;
  }
  throw new Skip('needs a restricted key with git:read, org:read or git:write');
}

/** An operation whose scope the restricted key may not give; one that writes, where there is one. */
export function forbiddenOperation(t: RuleContext): DocumentedOperation {
  return operationOf(t, 'lacks a scope', (scope) => !allowedScopes(t).includes(scope));
}

/** An operation whose scope the restricted key may give, and that takes no other. */
export function allowedOperation(t: RuleContext): DocumentedOperation {
  return operationOf(t, 'has a scope', (scope) => allowedScopes(t).includes(scope));
}

function operationOf(t: RuleContext, needed: string, isWanted: (scope: string) => boolean): DocumentedOperation {
  const found = ['pack', 'commit', 'meta', 'create-repo'].map(documentedOperation).find(({ scope }) => isWanted(scope));
  if (found === undefined) throw new Skip(`needs a restricted key that ${needed}: ${allowedScopes(t).join()}`);
  return found;
}
