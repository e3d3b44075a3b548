/**
 * Stages of a request at which faults can fire. Up to `before`, the request has changed nothing. At `after`, it has
 * taken effect, and a fault can only lose its response.
 */
export const STAGES = {
  accept:
    'a connection was accepted, whose first request is neither to /_emulator nor, by its Host, for a namespace; nothing of it was served',
  headers: 'the head of a request was read',
  body: 'while the body is read',
  auth: 'before the credential is looked at',
  before: 'the credential, the scope and the state of the repository were found in order; nothing was done yet',
  after: 'the operation was carried out; nothing of the answer was sent',
  'response.head': 'before the head of the answer',
  'response.body': 'while the body of the answer is sent',
  'git.advertise': 'while refs are advertised',
  'git.pack': 'while the pack of a fetch is sent',
  'git.receive': 'while a push is received; no ref has moved',
  'git.report': 'while the report of a push is sent; its refs have moved',
} as const;

export type Stage = keyof typeof STAGES;

/** Stages that are over when the service reads the faults that a request asks for, so such faults cannot fire there. */
export const BEFORE_IN_BAND: ReadonlySet<Stage> = new Set<Stage>(['accept', 'headers']);

/**
 * Point in the pipeline at which faults can fire: a stage of the fault syntax, or `quota`. Faults that report an exceeded
 * quota fire at `quota`, where the quotas of the request are counted, so that they reveal nothing about the repository.
 */
export type Position = Stage | 'quota';
