import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import t, { type Test } from 'tap';

/**
 * Paths of Chromium in Debian, of which the first that exists is used. The headless shell is preferred, because it uses
 * half the CPU time of the full browser.
 */
const EXECUTABLES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Path of the Chromium that the tests use; empty if none is installed. */
export const EXECUTABLE = EXECUTABLES.find((path) => existsSync(path)) ?? '';

/** Reason for skipping the tests of the web page, as the `skip` option of `t.test`; false if Chromium is installed. */
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
  // Switch the sandbox off for root, because Chromium cannot use its sandbox as root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Folder for screenshots of the web page, which are taken when a test fails. */
const SCREENSHOTS = join(ROOT, '.tap', 'screenshots');

let browser: Promise<Browser> | undefined;

/**
 * Starts a browser on the first call, and returns the same browser on later calls, because a start is slow. The browser
 * ends with the test file.
 */
function launch(): Promise<Browser> {
  if (browser === undefined) {
    browser = chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
    t.teardown(async () => (await browser)?.close());
  }
  return browser;
}

/** Members of the ready line (JSON that the emulator prints when it can serve requests) that the tests use. */
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
 * Library of the emulator as it is published. It is loaded at run time and not imported, because the tests of the page
 * are compiled without the types of Node.
 */
const library = createRequire(import.meta.url)(join(ROOT, 'dist/bundle/emulator/index.cjs')) as {
  startEmulator(options: object): Promise<Library>;
};

/** Starts an emulator in the test process on a free port. It is closed at the end of the test. */
export async function startEmulator(t: Test, options: object = {}): Promise<Started> {
  const emulator = await library.startEmulator({ port: 0, ...options });
  t.teardown(() => emulator.close());
  const { baseUrl, adminUrl, gitHost, org } = emulator;
  return { base_url: baseUrl, admin_url: adminUrl, git_host: gitHost, org };
}

/**
 * Starts the emulator as a process of its own, as users do, so that a test can kill it. The process ends with the test
 * at the latest.
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
  /** Fragment of the page's address with which the page is opened, such as `#/requests`. */
  readonly at?: string;
}

export interface OpenPage {
  readonly page: Page;
  /**
   * Errors that the page has caused, and requests that it has sent to addresses outside the emulator. A test expects
   * none.
   */
  readonly complaints: readonly string[];
}

/**
 * Opens the web page of an emulator in a new browser context, which shares no storage with other pages. If the test
 * fails, a screenshot is saved.
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
  // Wait until the page has replaced an empty fragment in its address at its start, because the replacement would undo
  // an earlier navigation by the test.
  if (at === '') await page.waitForFunction(() => location.hash !== '');
  return { page, complaints };
}
