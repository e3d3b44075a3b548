/**
 * Stages of a request at which faults can fire. Up to `before`, the request has changed nothing. At `after`, it has
 * taken effect, and a fault can only lose its response.
 */
export const STAGES = {
  accept:
    'after a connection was accepted, before anything is read; not if its first request is to /_emulator or to a namespace',
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

/** Stages that are over when the service reads the faults that a request asks for, so such faults cannot fire there. */
export const BEFORE_IN_BAND: ReadonlySet<Stage> = new Set<Stage>(['accept', 'headers']);

/**
 * Point in the pipeline at which faults can fire: a stage of the fault syntax, or `quota`. Faults that report an exceeded
 * quota fire at `quota`, where the quotas of the request are counted, so that they reveal nothing about the repository.
 */
export type Position = Stage | 'quota';
