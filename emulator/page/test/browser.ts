import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import t, { type Test } from 'tap';

/** Debian's; `.ci/run` installs it. */
export const EXECUTABLE = '/usr/bin/chromium';

/** Why tests of the page are left out, or false. */
export const skip: string | false = existsSync(EXECUTABLE)
  ? false
  : `there is no ${EXECUTABLE}: apt-get install chromium`;

export const ARGUMENTS = [
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Chromium has no sandbox for root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Where a failure leaves its screenshots. */
const SCREENSHOTS = join(ROOT, '.tap', 'screenshots');

let browser: Promise<Browser> | undefined;

/** One browser for all pages of a test file. */
function launch(): Promise<Browser> {
  if (browser === undefined) {
    browser = chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
    t.teardown(async () => (await browser)?.close());
  }
  return browser;
}

/** The members of the ready line that tests read. */
export interface Started {
  readonly base_url: string;
  readonly admin_url: string;
  readonly git_host: string;
  readonly org: string;
  readonly pid: number;
}

/** The emulator as people start it, on a free port; it ends with the test. */
export async function startEmulator(t: Test, ...flags: readonly string[]): Promise<Started> {
  const { started, child } = await spawnEmulator(...flags);
  t.teardown(() => endEmulator(child));
  return started;
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
  /** The place in the page: `#/requests`. */
  readonly at?: string;
}

export interface OpenPage {
  readonly page: Page;
  /** What went wrong in the page, and every address beside the emulator's that it asked for. */
  readonly complaints: readonly string[];
}

/** Opens the page of an emulator in a context of its own. Where the test fails, a screenshot is left. */
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
  return { page, complaints };
}
