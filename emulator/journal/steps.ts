/**
 * Processing steps of a request, in order. `JournalEntry` names the step that refused the request. Steps with the
 * prefix `faults.` only apply injected faults. Errors while Git data is sent belong to `handler`.
 */
export const STEPS = {
  'faults.accept': 'Faults that end a connection before anything of it is read.',
  message: 'Where the message ends has to be certain, and its headers not too many.',
  target: 'The request target has to be well-formed.',
  host: 'The host that the request names has to be one that is served here; it may select an organization.',
  expectation: 'The expectation of the request has to be one that can be met.',
  guard: "Of the emulator's own routes only: who may use them.",
  route: 'Method and path have to be those of an operation.',
  arming: 'The faults that the request asks for by its headers are read, and those that it can meet are found.',
  'faults.headers': 'Faults at the end of the head of the request.',
  authentication: 'The organization has to be able to verify tokens at all.',
  'faults.auth': 'Faults before the credential is looked at.',
  credential: 'The credential has to be there, and its token to be signed, valid and in time.',
  'token-faults': 'The faults that the token asks for are read.',
  'repository-claim': 'The token of an operation on a repository has to name one.',
  'path-claim': 'A path that names a repository has to name that of the token.',
  purpose: 'What the request is about to do is found, where its query or body decides.',
  scope: 'The token needs the scopes of that.',
  'body-for-faults': 'The body is read, where a fault asks what it says.',
  quotas: 'The quotas that the request counts in may not be used up.',
  'faults.quota': 'Faults in the place of a quota that is used up.',
  repository: 'The repository has to exist.',
  state: 'The state of the repository has to allow the operation.',
  'faults.before': 'Faults before anything is done.',
  'faults.body': 'Faults while the body is read.',
  input: 'Query and body have to be what the operation takes.',
  handler: 'The operation itself: it answers, or refuses what it was asked for.',
  'faults.after': 'Faults after the effect was made: the answer is lost.',
  'faults.response.head': 'Faults before the head of the answer.',
  'faults.response.body': 'Faults while the body of the answer is sent.',
} as const satisfies Readonly<Record<string, string>>;

/** Id of a processing step. */
export type StepId = keyof typeof STEPS;
