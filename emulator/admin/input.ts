import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { checkShape, readBody, refuseContentEncoding, shapeSteps } from '../http/body.js';
import { jsonSteps, MAX_VALUES } from '../http/json-reader.js';
import { problem, translateError } from '../http/problem.js';
import { parseQuery } from '../http/request-target.js';
import { lazy } from '../memory/lazy.js';
import { readYaml, YamlError } from '../scenarios/yaml.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { hasBody } from './guard.js';
import type { AdminRow } from './route.js';

/**
 * Maximum length of the body of an admin request, in bytes. It is independent of the limit `maxJsonBytes` of the API,
 * which can be lowered while the emulator runs.
 */
const MAX_BODY_BYTES = 1024 * 1024;

const YAML = 'application/yaml';
/** Maximum length of a YAML body, in bytes. It is lower than for JSON, because parsing YAML blocks the event loop. */
const MAX_YAML_BYTES = 64 * 1024;

const noMembers = lazy(() => z.strictObject({}));

/**
 * Parses the query string of an admin request and validates it with the schema of the route. A route without a schema
 * refuses all parameters. If it also requires no token, it ignores them.
 */
export function readQuery({ query, access }: AdminRow, given: string): unknown {
  if (!query && access === 'open') return {};
  // The parsed query is copied into an ordinary object, because `parseQuery` returns an object without a prototype.
  return checkShape(query ?? noMembers(), { ...parseQuery(given, []) }, 'The query');
}

function typeOf(headers: IncomingMessage['headers']): string | undefined {
  return headers['content-type']?.replace(/;.*/s, '').trim().toLowerCase();
}

/**
 * Throws `unsupported_media_type` if the body does not have the wanted media type. The type may be missing if there is
 * no body, or if JSON is wanted. This is safe, because the guard has already refused bodies that another site's page
 * could send.
 */
function requireType({ headers }: IncomingMessage, wanted: string): void {
  const type = typeOf(headers);
  const isMissing = type === undefined && (wanted === 'application/json' || !hasBody(headers));
  if (type !== wanted && !isMissing)
    throw problem('unsupported_media_type', `The Content-Type of the body must be ${wanted}.`);
}

export interface BodyPorts {
  readonly request: IncomingMessage;
  readonly sendContinue: () => void;
  readonly idleTimeout: number;
  readonly meter: Meter;
}

/**
 * Reads the body of an admin request and validates it with the schema of the route. An absent body counts as an empty
 * object.
 */
export async function readJsonBody({ body, bodyType, takesYaml }: AdminRow, ports: BodyPorts): Promise<unknown> {
  const { request, sendContinue, idleTimeout, meter } = ports;
  const isYaml = takesYaml === true && typeOf(request.headers) === YAML;
  if (!isYaml) requireType(request, bodyType ?? 'application/json');
  if (bodyType !== undefined) return undefined;
  let value: unknown = {};
  const isEmpty = !hasBody(request.headers);
  if (isEmpty && !body) return value;
  if (!isEmpty) {
    refuseContentEncoding(request);
    const maxBytes = isYaml ? MAX_YAML_BYTES : MAX_BODY_BYTES;
    const raw = await readBody(request, { maxBytes, idleTimeout, onBeforeRead: sendContinue });
    if (isYaml) {
      value = await translateError(
        YamlError,
        () => readYaml(raw.toString()),
        ({ message }) => problem('bad_request', `The body is not valid YAML: ${message}.`),
      );
    } else if (raw.length > 0) value = await runYielding(jsonSteps(raw, 'The body', { maxValues: MAX_VALUES }), meter);
  }
  return runYielding(shapeSteps(body ?? noMembers(), value, 'The body'), meter);
}
