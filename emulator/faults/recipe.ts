import type { ProblemCode } from '../http/problem.js';
import { quoteText, quoteWord } from './shell.js';

/** How a code comes about: from a request alone, from a state that is set, from a quota, or from a fault. */
export type RecipeWay = 'natural' | 'state' | 'quota' | 'fault';

/** A request as `curl` sends it. */
export interface RecipeRequest {
  readonly method: string;
  /** The request target. */
  readonly path: string;
  /** The variable with the token; null for a request without one. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Lines of NDJSON. */
  readonly lines?: readonly unknown[];
}

/** One command. */
export type RecipeStep =
  /** `emulator …`, which finds the emulator by EMULATOR_URL. */
  | { readonly emulator: readonly string[] }
  /** A token with these flags of `emulator token`, kept in a variable. */
  | { readonly token: readonly string[]; readonly as: string }
  | { readonly send: RecipeRequest };

/** How to get an error from an emulator on which nothing was done yet. */
export interface Recipe {
  readonly code: ProblemCode;
  readonly way: RecipeWay;
  /** The last one is the request that is answered with the code. */
  readonly steps: readonly [...RecipeStep[], { readonly send: RecipeRequest }];
}

/**
 * The commands of a recipe, one a line, for a shell of POSIX. What the last one prints is the answer with its head; of
 * the others only failures are told.
 */
export function writeCommands({ steps }: Recipe): string[] {
  return steps.map((step, index) => {
    if ('emulator' in step) return ['emulator', ...step.emulator].map(quoteWord).join(' ');
    if ('token' in step) return `${step.as}=$(${['emulator', 'token', ...step.token].map(quoteWord).join(' ')})`;
    const isLast = index === steps.length - 1;
    return [isLast ? 'curl -sS -i' : 'curl -fsS -o /dev/null', ...curlArguments(step.send)].join(' ');
  });
}

function curlArguments({ method, path, token = 'TOKEN', headers = {}, json, lines }: RecipeRequest): string[] {
  const types = {
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...(lines && { 'Content-Type': 'application/x-ndjson' }),
  };
  const body = lines ? lines.map((line) => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(json);
  return [
    ...(method === 'GET' ? [] : ['-X', method]),
    `"$EMULATOR_URL${path}"`,
    ...(token === null ? [] : ['-H', `"Authorization: Bearer $${token}"`]),
    ...Object.entries({ ...types, ...headers }).flatMap(([name, value]) => ['-H', quoteText(`${name}: ${value}`)]),
    ...(body === undefined ? [] : ['--data-binary', quoteText(body)]),
  ];
}
