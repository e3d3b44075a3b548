import { basename } from 'node:path';
import type { Action, Fault } from '../faults/fault.js';
import { FAULT_LIMITS } from '../faults/fault-limits.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import { genericCodeOf, problemCodes } from '../http/problem.js';
import { redactText } from '../journal/redaction.js';
import { faultsOfRecording } from './from-recording.js';
import { type Entry, fieldOf, operationOf, readArchive } from './har-archive.js';
import { readScenario } from './read-scenario.js';
import type { Scenario } from './scenario.js';
import { SCENARIO_FILE_LIMIT, ScenarioError } from './scenario-file.js';
import { sequenceFault } from './sequence-fault.js';

/** HTTP status of each error code in the specification. A fault can return these errors by their code. */
const STATUS_OF: ReadonlyMap<string, number> = new Map(problemCodes().map(({ code, status }) => [code, status]));

/**
 * Pattern of error codes that are safe to copy: lower-case words. Other values of `code` in a recorded response may be
 * secrets.
 */
const WORDS = /^[a-z]+(?:_[a-z]+){0,9}$/;
const MAX_CODE_LENGTH = 64;

export interface Converted {
  readonly scenario: Scenario;
  /** One sentence for each exchange that the scenario does not repeat. Only for recordings of `emulator record`. */
  readonly notReplayed: readonly string[];
}

/**
 * Returns a scenario from an HTTP Archive. Throws `ScenarioError`.
 *
 * For a recording of `emulator record`, the scenario repeats all recorded responses. For any other archive, the scenario
 * reproduces only the failures: statuses, error codes, rate limit headers and aborted responses. The faults of each
 * operation keep the recorded order. Errors from other programs, such as a proxy's error page, also keep their media
 * type and body. Tokens and credentials are removed from the body. Nothing else is copied.
 */
export function scenarioFromHar(text: string, file: string, operations: readonly FaultedOperation[]): Converted {
  const { entries, _emulator } = readArchive(text, file);
  if (!entries.some(({ request }) => operationOf(request, operations))) {
    throw new ScenarioError(
      `${file}: the archive contains no request to a route of the service, so there is nothing to simulate.`,
    );
  }
  const isRecording = _emulator?.recorded === true;
  const { faults, notReplayed } = isRecording
    ? faultsOfRecording(entries, operations)
    : { faults: faultsOfFailures(entries, operations), notReplayed: [] };
  const tooLong = faults.find(({ sequence = [] }) => sequence.length > FAULT_LIMITS.actions);
  if (tooLong) {
    throw new ScenarioError(
      `${file} has ${tooLong.sequence!.length} requests of ${[tooLong.match!.op].join()}, but at most ${FAULT_LIMITS.actions} are allowed. Remove requests from the archive.`,
    );
  }
  const id = basename(file)
    .replace(/\.\w+$/, '')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
  const what = isRecording ? 'Responses to' : 'Errors and aborted responses of';
  const scenario = {
    id: id === '' ? 'har' : id,
    about: `${what} ${entries.length} recorded requests, in their order for each operation.`,
    faults,
    ...(faults.length > 0 && { expect: { faults: { everyFired: true } } }),
  };
  if (JSON.stringify(scenario).length > SCENARIO_FILE_LIMIT) {
    throw new ScenarioError(
      `${file}: the scenario would be larger than ${SCENARIO_FILE_LIMIT / 2 ** 20} MiB, the maximum. Remove requests from the archive.`,
    );
  }
  readScenario(scenario, operations);
  const dropped = isRecording ? (_emulator?.dropped ?? 0) : 0;
  const missing = dropped > 0 ? [`${dropped} later exchanges: they are missing, because the recording was full.`] : [];
  return { scenario: scenario as Scenario, notReplayed: [...notReplayed, ...missing] };
}

function faultsOfFailures(entries: readonly Entry[], operations: readonly FaultedOperation[]): Fault[] {
  const isAuthorized = entries.some((entry) => fieldOf(entry.request, 'authorization') !== undefined);
  const sequences = new Map<FaultedOperation, (Action | 'pass')[]>();
  for (const entry of entries) {
    const operation = operationOf(entry.request, operations);
    if (!operation) continue;
    const sequence = sequences.get(operation) ?? [];
    sequences.set(operation, sequence);
    // A 401 response to a request without credentials is skipped, because the emulator also refuses such requests. Git
    // sends its first request without credentials.
    const isRefusedByService = entry.response.status === 401 && fieldOf(entry.request, 'authorization') === undefined;
    if (!(isAuthorized && isRefusedByService)) sequence.push(actionOf(entry, operation));
  }
  return [...sequences].flatMap(([operation, sequence]) => faultOf(operation, sequence));
}

function faultOf(operation: FaultedOperation, sequence: readonly (Action | 'pass')[]): Fault[] {
  // A cut of the Git ref advertisement must name its stage, because the fault kind `cut` has no default stage for this
  // operation.
  const isCut = sequence.some((action) => action !== 'pass' && 'cut' in action);
  const at = operation.id === 'gitInfoRefs' && isCut ? ({ at: 'git.advertise' } as const) : {};
  return sequenceFault({ match: { op: operation.id }, ...at }, sequence);
}

/**
 * Returns the fault action that reproduces a recorded response. Returns `pass` if the response is successful and
 * complete.
 */
function actionOf(entry: Entry, operation: FaultedOperation): Action | 'pass' {
  const { status } = entry.response;
  const cut = cutOf(entry);
  if (cut) return cutAction(cut, operation);
  return status < 400 ? 'pass' : (foreignErrorOf(entry, operation) ?? errorOf(entry));
}

/** End of a truncated response: the number of its body bytes, and how the connection ended (TCP FIN or RST). */
interface Cut {
  readonly bytes: number;
  readonly how: 'fin' | 'rst';
}

/** Returns where and how a recorded response was truncated; undefined if it is complete. */
function cutOf({ response, _emulator }: Entry): Cut | undefined {
  const { status, bodySize = -1, content = {}, _error } = response;
  const bytes = Math.max(0, Math.trunc(bodySize >= 0 ? bodySize : (content.size ?? 0)));
  const how = /RESET/i.test(_error ?? '') ? 'rst' : 'fin';
  if (_emulator) return _emulator.outcome === 'cut' ? { bytes, how } : undefined;
  if (status === 0) return { bytes: 0, how };
  if (_error) return { bytes, how };
  const announced = Number(fieldOf(response, 'content-length') ?? Number.NaN);
  return bodySize >= 0 && bodySize < announced ? { bytes, how } : undefined;
}

/**
 * Returns the action that reproduces a truncated response. If a write got no response bytes, its response is lost
 * (`lost`): the write still takes effect.
 */
function cutAction({ bytes, how }: Cut, { id, effect }: FaultedOperation): Action {
  const isLost = effect !== 'read' && (bytes === 0 || id === 'gitReceivePack');
  return isLost ? { lost: how } : { cut: { at: { bytes }, how } };
}

/**
 * Matches the media type and charset in a `Content-Type` header (RFC 9110, section 8.3.1). Other parameters are
 * ignored.
 */
const MEDIA_TYPE = /^\s*([\w.+-]+\/[\w.+-]+)\s*(?:;\s*charset="?([\w.-]+)"?)?/i;

/**
 * Returns an action that sends a copy of an error response from another program, such as an HTML page from a proxy.
 * Such a response has a media type that the operation never uses for errors. Returns undefined for other responses.
 */
function foreignErrorOf({ response }: Entry, { group }: FaultedOperation): Action | undefined {
  const { status, content } = response;
  const [, type, charset] = MEDIA_TYPE.exec(fieldOf(response, 'content-type') ?? content?.mimeType ?? '') ?? [];
  const isOwn =
    type === undefined || /[/+]json$/i.test(type) || (group === 'Git' && type.toLowerCase() === 'text/plain');
  if (isOwn) return undefined;
  const retryAfter = retryAfterOf({ response });
  const headers = {
    'content-type': charset === undefined ? type : `${type}; charset=${charset}`,
    ...(typeof retryAfter === 'number' && { 'retry-after': String(retryAfter) }),
  };
  const body = bodyOf(content, charset);
  const bodyBase64 = body.length === 0 ? {} : { bodyBase64: body.toString('base64') };
  return { raw: { status: Math.min(status, 599), headers, ...bodyBase64 } };
}

/**
 * Returns the bytes of a recorded response body, without tokens and credentials. An archive contains decoded text, so
 * the text is encoded again in its charset.
 */
function bodyOf(content: Entry['response']['content'], charset: string | undefined): Buffer {
  const { text = '', encoding } = content ?? {};
  if (encoding === 'base64') return Buffer.from(redactText(Buffer.from(text, 'base64').toString('latin1')), 'latin1');
  return Buffer.from(redactText(text), charset?.toLowerCase() === 'iso-8859-1' ? 'latin1' : 'utf8');
}

/** Returns the action that reproduces an error response of the service. Uses the error code if it is known. */
function errorOf(entry: Entry): Action {
  const { status } = entry.response;
  const code = codeOf(entry);
  const retryAfter = retryAfterOf(entry);
  const t = rateWindowOf(entry);
  const named = code ?? genericCodeOf(status);
  if (STATUS_OF.get(named) === status) {
    // Without a recorded `Retry-After` header, `omit` is needed, because the service would add the header to some
    // errors.
    const wait = retryAfter ?? 'omit';
    return { error: { code: named, retryAfter: wait, ...(t !== undefined && { t }) } } as Action;
  }
  if (code !== undefined && status <= 599)
    return { code: { status, code, ...(retryAfter !== undefined && { retryAfter }) } };
  const headers = typeof retryAfter === 'number' ? { headers: { 'retry-after': String(retryAfter) } } : {};
  return { raw: { status: Math.min(status, 599), ...headers } };
}

/** Returns the error code in a JSON response body (problem details, RFC 9457); undefined if absent. */
function codeOf({ response: { content } }: Entry): string | undefined {
  if (content?.text === undefined) return undefined;
  const text = content.encoding === 'base64' ? Buffer.from(content.text, 'base64').toString() : content.text;
  try {
    const { code } = JSON.parse(text) as { code?: unknown };
    return typeof code === 'string' && code.length <= MAX_CODE_LENGTH && WORDS.test(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the seconds in a response's `Retry-After` header. Returns `http-date` for a date, `garbage` for other text,
 * and undefined if the header is absent.
 */
function retryAfterOf({ response }: Pick<Entry, 'response'>): number | 'http-date' | 'garbage' | undefined {
  const field = fieldOf(response, 'retry-after');
  if (field === undefined) return undefined;
  if (/^\d{1,9}$/.test(field)) return Number(field);
  return Number.isNaN(Date.parse(field)) ? 'garbage' : 'http-date';
}

/**
 * Returns the parameter `t` of a `RateLimit` response header such as `"name";r=0;t=5`; undefined if absent. It is the
 * number of seconds until the quota is refilled.
 */
function rateWindowOf({ response }: Entry): number | undefined {
  const [, seconds] = /;\s*t=(\d{1,9})(?:;|,|$)/.exec(fieldOf(response, 'ratelimit') ?? '') ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
