import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../../http/listen.js';
import { reporterOf } from '../../report/reporters.js';
import type { Report } from '../../report/results.js';
import { startTargetEmulator } from '../../run/emulator-process.js';
import { packageRoot } from '../../run/version.js';
import { type Rewrite, startProxy } from './proxy.js';

/**
 * Server that implements only a part of the repository hosting API or nothing of it. `exitCode` and `says` are the
 * expected result of `conformance run` against the server.
 */
export interface ControlServer {
  /** Behaviour of the server as a predicate, such as "answers 200 {} to everything". */
  readonly does: string;
  readonly answer: RequestListener | Rewrite;
  readonly exitCode: number;
  /** Patterns that must match the text report, or the error message if there is no report. */
  readonly says: readonly RegExp[];
}

/** Result of `conformance run` against one control server. */
export interface ControlOutcome {
  readonly exitCode: number | null;
  /** Parsed JSON report. Undefined if the command stopped before any rule ran. */
  readonly report: Report | undefined;
  /**
   * What the report says about the run as a whole: its messages, failures of the set-up, or the reason why no rule ran.
   * The test compares this text with the expected one (`says`).
   */
  readonly sentences: string;
}

const json = (body: string, status = 200): RequestListener => whole(status, 'application/json', body);

function whole(status: number, type: string, body: string, headers: Record<string, string> = {}): RequestListener {
  return (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  };
}

function cutOff(_request: unknown, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"repos":[', () => response.destroy());
}

/**
 * Routes of the specification that a partial server lacks: every second route of the API. Each pattern matches a
 * request line.
 */
const MISSING = [
  /^POST \/api\/v1\/repos\/restore-commit/,
  /^GET \/api\/v1\/repos\/files\/metadata/,
  /^POST \/api\/v1\/repos\/grep/,
  /^POST \/api\/v1\/repos\/notes/,
  /^POST \/api\/v1\/repos\/archive/,
  /^GET \/api\/repos\/[^/]+\/branches/,
];

const NOT_FOUND =
  '{"title":"Not Found","status":404,"detail":"No route.","error":"No route.","code":"route_not_found"}';

const halfOfTheRoutes: Rewrite = {
  response: (response) => {
    const { request, headers } = response;
    if (!MISSING.some((route) => route.test(`${request.method} ${request.path}`))) return;
    response.status = 404;
    headers['content-type'] = 'application/problem+json';
    response.body = Buffer.from(NOT_FOUND);
  },
};

const LOGIN = '<!doctype html><title>Sign in</title><form method="post"><input name="password"></form>';

export const CONTROL_SERVERS: readonly ControlServer[] = [
  {
    does: 'answers 200 {} to everything',
    answer: json('{}'),
    exitCode: 3,
    says: [/every response of .* is alike, .*\(200 /],
  },
  { does: 'answers 500 to everything', answer: json('{"error":"x"}', 500), exitCode: 3, says: [/is an error \(500 /] },
  {
    does: 'shows a page to sign in on',
    answer: whole(200, 'text/html', LOGIN),
    exitCode: 3,
    says: [/a web page \(200 text\/html\)/, /is this the address of the API/],
  },
  {
    does: 'redirects everything',
    answer: whole(302, 'text/html', '', { location: 'https://example.com/login' }),
    exitCode: 3,
    says: [/a redirect to https:\/\/example\.com\/login/, /is this the address of the API/],
  },
  {
    does: 'closes each connection',
    answer: (request) => request.socket.destroy(),
    exitCode: 3,
    says: [/does not answer: the connection was closed before a response/],
  },
  {
    does: 'answers nothing at all',
    answer: (request) => void request.resume(),
    exitCode: 3,
    says: [/does not answer/],
  },
  { does: 'cuts off each body', answer: cutOff, exitCode: 3, says: [/does not answer: the response was truncated/] },
  {
    does: 'has half of the routes',
    answer: halfOfTheRoutes,
    exitCode: 1,
    says: [
      /grep\.route: /,
      /restore\.route\.v1: /,
      /404 route_not_found/,
      /^POST \/api\/v1\/repos\/grep always returns route_not_found; used by \d+ rules$/m,
    ],
  },
];

/** Maximum number of lines in a text report. A longer report is too much for a person to read. */
export const MAX_LINES = 120;

/**
 * Runs `conformance run` against a control server. Returns one sentence for each difference from the expected outcome,
 * or an empty list.
 */
export async function complaintsAbout(server: ControlServer): Promise<string[]> {
  const { exitCode, report, sentences } = await checkControl(server);
  const silent = server.says.filter((pattern) => !pattern.test(sentences));
  const errors = report?.counts.error ?? 0;
  const lines = (report === undefined ? sentences : reporterOf('pretty', false)(report)).split('\n').length;
  return [
    ...(exitCode === server.exitCode ? [] : [`the exit code is ${exitCode}, not ${server.exitCode}`]),
    ...silent.map((pattern) => `nothing says ${pattern}: ${sentences.slice(0, 400)}`),
    ...(lines < MAX_LINES ? [] : [`the report for people has ${lines} lines`]),
    ...(errors === 0 ? [] : [`${errors} rules broke themselves`]),
  ].map((why) => `a server that ${server.does}: ${why}`);
}

/** Runs `conformance run` against a control server, in a process of its own as a user would. */
async function checkControl({ answer: response }: ControlServer): Promise<ControlOutcome> {
  if (typeof response !== 'function') {
    await using emulator = await startedEmulator();
    await using proxy = await startProxy(emulator.target, response);
    return await runCommand(proxy.target.baseUrl, emulator.target.key.file);
  }
  const server = createServer(response);
  const baseUrl = `http://${await listenOnLoopback(server)}`;
  try {
    return await runCommand(baseUrl, join(packageRoot(), 'fixtures', 'keys', 'es256.pem'));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function startedEmulator() {
  const emulator = await startTargetEmulator();
  return { target: emulator.target, [Symbol.asyncDispose]: () => emulator.close() };
}

/**
 * Command-line flags of each run. The rate of 10,000 requests per second is practically unlimited, because the server
 * is on loopback.
 */
const FLAGS = ['--write', '--timeout', '1500', '--rate', '10000', '--reporter', 'json'];

async function runCommand(baseUrl: string, key: string): Promise<ControlOutcome> {
  const command = join(packageRoot(), 'bin', 'conformance.js');
  const args = [command, 'run', '--base-url', baseUrl, '--org', 'demo', '--key', key, ...FLAGS];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, warnings, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  const report: Report | undefined = output === '' ? undefined : JSON.parse(output);
  return { exitCode, report, sentences: report === undefined ? warnings : sentencesOf(report) };
}

function sentencesOf({ notices = [], setup = [], rules }: Report): string {
  const broken = rules.filter(({ verdict }) => verdict === 'fail');
  return [
    ...notices,
    ...setup.map(({ name, reason }) => `${name}: ${reason}`),
    ...broken.map(({ id, reason, actual }) => `${id}: ${reason}: ${JSON.stringify(actual)}`),
  ].join('\n');
}
