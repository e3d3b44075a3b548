/**
 * Steps in which a request is processed, in order. A journal entry names the step that refused the request. Steps with
 * the prefix `faults.` only apply injected faults. An error while Git data is sent belongs to the step `handler`.
 */
export const STEPS = {
  'faults.accept': 'Applies faults that close a connection before anything is read.',
  message: 'Checks that the end of the message is unambiguous, and that it does not have too many header fields.',
  target: 'Checks that the request target is well-formed.',
  host: 'Checks that the emulator serves the host of the request. The host can select an organization.',
  expectation: 'Checks that the Expect header can be fulfilled.',
  guard: 'Checks access to the admin API. Applies only to the routes of the emulator itself.',
  route: 'Finds the operation for the method and the path.',
  arming: 'Reads the faults in the request header, and finds all faults that can apply to the request.',
  'faults.headers': 'Applies faults at the end of the request header.',
  authentication: 'Checks that the organization can verify tokens at present.',
  'faults.auth': 'Applies faults before the credential is checked.',
  credential: 'Checks that the request has a credential, and that its token is signed, valid and not expired.',
  'token-faults': 'Reads the faults in the token.',
  'repository-claim': 'Checks that the token has a repo claim if the operation is on a repository.',
  'path-claim': 'Checks that the repository in the path, if any, is the one in the repo claim.',
  purpose: 'Determines the purpose of the request if its query or body decides it.',
  scope: 'Checks that the token has the scopes that the purpose requires.',
  'body-for-faults': 'Reads the body if the condition of a fault depends on it.',
  quotas: 'Checks that no quota of the request is exhausted.',
  'faults.quota': 'Applies faults in place of an exhausted quota.',
  repository: 'Checks that the repository exists.',
  state: 'Checks that the state of the repository allows the operation.',
  'faults.before': 'Applies faults before the operation has any effect.',
  'faults.body': 'Applies faults while the request body is read.',
  input: 'Checks that the query and the body are valid for the operation.',
  handler: 'Runs the operation, which returns its response or an error.',
  'faults.after': 'Applies faults after the effect of the operation, so that its response is lost.',
  'faults.response.head': 'Applies faults before the response header is sent.',
  'faults.response.body': 'Applies faults while the response body is sent.',
} as const satisfies Readonly<Record<string, string>>;

/** Id of a processing step. */
export type StepId = keyof typeof STEPS;
