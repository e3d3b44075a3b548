/**
 * Stages, which are the points in the processing of a request at which faults can fire, with descriptions. Up to
 * `before`, the request has changed nothing. From `after` on, the operation has taken effect, so a fault can only
 * change or lose the response.
 */
export const STAGES = {
  accept:
    'after a connection was accepted and before anything is read, unless its first request is to /_emulator or a namespace',
  headers: 'after the request header was read',
  body: 'while the request body is read',
  auth: 'before the credential is checked',
  before: 'after credential, scope and state of the repository were checked, before the operation has any effect',
  after: 'after the operation has taken effect, before the response is sent',
  'response.head': 'before the response header is sent',
  'response.body': 'while the response body is sent',
  'git.advertise': 'while refs are advertised',
  'git.pack': 'while the pack of a fetch is sent',
  'git.receive': 'while a push is received, before any ref has moved',
  'git.report': 'while the report of a push is sent, after its refs have moved',
} as const;

export type Stage = keyof typeof STAGES;

/**
 * Stages that are over before the service reads the faults in a request's header or claim. Such faults cannot fire at
 * these stages.
 */
export const BEFORE_IN_BAND: ReadonlySet<Stage> = new Set<Stage>(['accept', 'headers']);

/**
 * Point in the processing of a request at which faults can fire: a stage of the fault syntax, `handshake` or `quota`.
 * Faults of the TLS handshake fire at `handshake`, which is the beginning of the stage `accept` of an HTTPS connection.
 * Faults that report an exceeded quota fire at `quota`, where the quotas are counted. Like real quotas, they then reveal
 * nothing about the repository.
 */
export type Position = Stage | 'handshake' | 'quota';
