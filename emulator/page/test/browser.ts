import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import t, { type Test } from 'tap';

/**
 * Paths of Chromium in Debian, in order of preference. The headless shell comes first, because it uses half the CPU
 * time.
 */
const EXECUTABLES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Path of the Chromium that the tests use. Empty if none is installed. */
export const EXECUTABLE = EXECUTABLES.find((path) => existsSync(path)) ?? '';

/**
 * Value for the `skip` option of `t.test`. It is a message if Chromium is missing, and false if Chromium is installed.
 */
export const skip: string | false =
  EXECUTABLE === '' ? 'Chromium is not installed: apt-get install chromium-headless-shell' : false;

export const ARGUMENTS = [
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Disable the sandbox for root, because Chromium refuses to use it as root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Folder for the screenshots of failed tests. */
const SCREENSHOTS = join(ROOT, '.tap', 'screenshots');

let browser: Promise<Browser> | undefined;

/**
 * Returns a browser, which the first call starts. Later calls return the same browser, because a start is slow. The
 * browser ends with the test file.
 */
function launch(): Promise<Browser> {
  if (browser === undefined) {
    browser = chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
    t.teardown(async () => (await browser)?.close());
  }
  return browser;
}

/** Properties of the ready line that the tests use. The emulator prints this JSON line when it can serve requests. */
export interface Started {
  readonly base_url: string;
  readonly admin_url: string;
  readonly git_host: string;
  readonly org: string;
}

interface Library {
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly gitHost: string;
  readonly org: string;
  close(): Promise<void>;
}

/**
 * Published library of the emulator. It is loaded at run time instead of imported, because the tests of the page are
 * compiled without the types of Node.
 */
const library = createRequire(import.meta.url)(join(ROOT, 'dist/bundle/emulator/index.cjs')) as {
  startEmulator(options: object): Promise<Library>;
};

/** Starts an emulator in this process on a free port, and closes it at the end of the test. */
export async function startEmulator(t: Test, options: object = {}): Promise<Started> {
  const emulator = await library.startEmulator({ port: 0, ...options });
  t.teardown(() => emulator.close());
  const { baseUrl, adminUrl, gitHost, org } = emulator;
  return { base_url: baseUrl, admin_url: adminUrl, git_host: gitHost, org };
}

/**
 * Starts the emulator as a separate process, so that a test can kill it. The process ends with the test at the latest.
 */
export async function startProcess(t: Test, ...flags: readonly string[]): Promise<Started & { readonly pid: number }> {
  const { started, child } = await spawnEmulator(...flags);
  t.teardown(() => endEmulator(child));
  return { ...started, pid: child.pid! };
}

export async function spawnEmulator(...flags: readonly string[]): Promise<{ started: Started; child: ChildProcess }> {
  const args = [join(ROOT, 'bin/emulator.js'), 'start', '--port', '0', '--log', 'quiet', ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const part of child.stdout) {
    text += part;
    if (text.includes('\n')) break;
  }
  return { started: JSON.parse(text) as Started, child };
}

export function endEmulator(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

export interface OpenOptions extends BrowserContextOptions {
  /** Initial fragment of the page's address, such as `#/requests`. */
  readonly at?: string;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors of the page, and requests that it sent to addresses outside the emulator. Tests expect an empty list. */
  readonly complaints: readonly string[];
}

/**
 * Opens an emulator's web page in a new browser context, which shares no storage with other pages. Saves a screenshot
 * if the test fails.
 */
export async function openPage(
  t: Test,
  { admin_url }: Pick<Started, 'admin_url'>,
  { at = '', ...options }: OpenOptions = {},
): Promise<OpenPage> {
  const context = await (await launch()).newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${new URL(admin_url).origin}/`)) complaints.push(`asked for ${request.url()}`);
  });
  t.teardown(async () => {
    if (!t.passing()) {
      await mkdir(SCREENSHOTS, { recursive: true });
      const name = t.name.replaceAll(/[^\w-]+/g, '-').slice(0, 80);
      await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) }).catch(() => {});
    }
    await context.close();
  });
  await page.goto(`${admin_url}/${at}`);
  // Wait until the page has replaced its empty fragment. If the test navigated earlier, this replacement would undo the
  // navigation.
  if (at === '') await page.waitForFunction(() => location.hash !== '');
  return { page, complaints };
}
