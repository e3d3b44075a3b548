import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { problem } from '../http/problem.js';
import { bytes, empty, type Reply } from '../http/reply.js';
import { lazy } from '../memory/lazy.js';
import { packageFile } from '../system/package-root.js';
import { ADMIN_PREFIX } from './path.js';
import { type AdminContext, adminRoute } from './route.js';

/*
 * Files of the emulator's web page, as built by `npm run bundle`. They require no token, because they are the same for
 * every client and contain no state. The page gets its data from the other admin routes.
 */

interface PageFile {
  readonly content: Buffer;
  readonly compressed: Buffer;
  readonly type: string;
}

const DOCUMENT = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Content Security Policy of the page (Level 3, with Trusted Types). The page loads nothing from other origins, and
 * uses no inline script or style. Text cannot become markup, and no other page can show this page in a frame.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
  'x-frame-options': 'DENY',
};

/** Returns all files of the page by name. They are read from disk at the first call. */
const readFiles = lazy((): ReadonlyMap<string, PageFile> => {
  const folder = packageFile('dist/bundle/page');
  const files = readdirSync(folder).map((name): [string, PageFile] => {
    const content = readFileSync(join(folder, name));
    return [name, { content, compressed: gzipSync(content), type: TYPES[extname(name)] ?? 'application/octet-stream' }];
  });
  return new Map(files);
});

function serve(name: string, { header }: AdminContext): Reply {
  const file = readFiles().get(name);
  if (file === undefined)
    throw problem('not_found', `The web page of the emulator has no file ${JSON.stringify(name)}.`);
  const isCompressed = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(header('accept-encoding') ?? '');
  return bytes(200, isCompressed ? file.compressed : file.content, {
    ...HEADERS,
    'content-type': file.type,
    ...(isCompressed && { 'content-encoding': 'gzip' }),
  });
}

/** Redirects `/_emulator` to the page at `/_emulator/`, because users often omit the trailing slash. */
export const leadToPage = adminRoute({
  path: '',
  summary: 'Redirect to the page',
  access: 'open',
  replies: { 308: '' },
  handle: () => empty(308, { location: `${ADMIN_PREFIX}/` }),
});

export const showPage = adminRoute({
  path: '/',
  summary: 'Show the page: requests as they arrive, repositories, faults, clock, and mistakes of clients',
  access: 'open',
  replies: { 200: 'text/html' },
  handle: (ctx) => serve(DOCUMENT, ctx),
});

export const showPageFile = adminRoute({
  path: '/page/{file}',
  summary: 'Return a file of the page',
  access: 'open',
  replies: { 200: 'application/octet-stream' },
  handle: (ctx) => serve(ctx.params.file!, ctx),
});
