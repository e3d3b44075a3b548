import { z } from 'zod';
import type { FaultedOperation } from '../faults/operation-shape.js';
import { checkShape } from '../http/body.js';
import { inFile, ScenarioError } from './scenario-file.js';

/** Maximum size of an HTTP Archive file, in bytes. */
export const HAR_LIMIT = 128 * 1024 * 1024;

const header = z.object({ name: z.string(), value: z.string() });

/**
 * Schema of an HTTP Archive 1.2 (file of recorded requests and responses). It lists only the members that are used;
 * others are ignored.
 */
const archive = z.object({
  log: z.object({
    entries: z.array(
      z.object({
        startedDateTime: z.string().optional(),
        time: z.number().optional(),
        request: z.object({ method: z.string(), url: z.string(), headers: z.array(header).optional() }),
        response: z.object({
          status: z.int().min(0).max(999),
          headers: z.array(header).optional(),
          content: z
            .object({
              size: z.number().optional(),
              mimeType: z.string().optional(),
              text: z.string().optional(),
              encoding: z.string().optional(),
            })
            .optional(),
          bodySize: z.number().optional(),
          _error: z.string().nullish(),
        }),
        timings: z.object({ wait: z.number().optional() }).optional(),
        _emulator: z
          .object({
            outcome: z.string().optional(),
            unreached: z.boolean().optional(),
            truncated: z.object({ answer: z.boolean().optional() }).optional(),
          })
          .optional(),
      }),
    ),
    _emulator: z.object({ recorded: z.boolean().optional(), dropped: z.number().optional() }).optional(),
  }),
});

export type Archive = z.infer<typeof archive>['log'];
export type Entry = Archive['entries'][number];

/** Reads an HTTP Archive. Throws `ScenarioError` with the name of the file. */
export function readArchive(text: string, file: string): Archive {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // The JSON parser's message is omitted, because it would quote the file, which may contain secrets.
    throw new ScenarioError(`${file} is not an HTTP Archive (HAR), because it is not valid JSON.`);
  }
  return inFile(file, () => checkShape(archive, value, 'The archive')).log;
}

/** Returns the value of the first header field with this name, given in lower case; undefined if absent. */
export function fieldOf(
  { headers = [] }: { readonly headers?: { name: string; value: string }[] | undefined },
  name: string,
): string | undefined {
  return headers.find((field) => field.name.toLowerCase() === name)?.value;
}

/**
 * Returns the operation whose route matches a recorded request; undefined if none matches. If several match, returns
 * the one with the fewest path parameters.
 */
export function operationOf<Operation extends Pick<FaultedOperation, 'routes'>>(
  { method, url }: { readonly method: string; readonly url: string },
  operations: readonly Operation[],
): Operation | undefined {
  const path = URL.canParse(url) ? new URL(url).pathname : undefined;
  if (path === undefined) return undefined;
  const meant = method === 'HEAD' ? 'GET' : method;
  const fitting = operations.flatMap((operation) =>
    operation.routes
      .filter((route) => route.method === meant && patternOf(route.path).test(path))
      .map((route) => ({ operation, parameters: route.path.split('{').length })),
  );
  return fitting.sort((a, b) => a.parameters - b.parameters)[0]?.operation;
}

/** Returns the name of the repository in the path of a request to the operation; undefined if absent. */
export function repositoryIn(url: string, { routes }: Pick<FaultedOperation, 'routes'>): string | undefined {
  const { pathname } = new URL(url);
  const [name] = routes.flatMap(({ path }) => patternOf(path).exec(pathname)?.groups?.repo_name ?? []);
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    // A name with an invalid percent-encoding is not the name of a repository.
    return undefined;
  }
}

/** Compiled patterns by route, because an archive can contain many requests, and each is compared with all routes. */
const patterns = new Map<string, RegExp>();

/**
 * Returns a regular expression for the paths that a route matches, with a group for each parameter. Only the repository
 * name in a Git route may contain slashes.
 */
function patternOf(route: string): RegExp {
  const known = patterns.get(route) ?? compileRoute(route);
  patterns.set(route, known);
  return known;
}

function compileRoute(route: string): RegExp {
  const escaped = route.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  const ofGit = escaped.replace(/^\/\{(\w+)\}(?=\\\.git)/, '/(?<$1>.+)');
  return new RegExp(`^${ofGit.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}
