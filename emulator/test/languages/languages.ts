import { execFile, spawnSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The compiled tests are in dist/emulator/test/languages, and the examples are in the sources. The path therefore goes
// up to the checkout.
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Folder with the JAR files of JUnit 5. Debian's package junit5 installs them in the default folder. */
const JUNIT = process.env.JUNIT_JARS ?? '/usr/share/java';

/** Example in one programming language of a test suite that uses the emulator. The documents show the complete file. */
export interface Language {
  /** Name of the example's folder, and of its page in `emulator/docs/`. */
  readonly name: string;
  readonly file: string;
  /** Shell command that runs the example. An emulator must be running. */
  readonly command: string;
  /** Commands that succeed if the required programs are installed. */
  readonly needs: readonly (readonly [program: string, ...args: string[]])[];
  /** Pattern that the output of a successful run must match. */
  readonly prints: RegExp;
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'shell',
    file: 'client-test.sh',
    command: 'sh client-test.sh',
    needs: [
      ['git', '--version'],
      ['curl', '--version'],
    ],
    prints: /^ok$/m,
  },
  {
    name: 'python',
    file: 'test_client.py',
    command: 'python3 -m pytest -q -p no:cacheprovider',
    needs: [
      ['git', '--version'],
      ['python3', '-c', 'import pytest, requests'],
    ],
    prints: /\b2 passed\b/,
  },
  {
    name: 'go',
    file: 'client_test.go',
    command: 'go mod init client && go test -count=1',
    needs: [
      ['git', '--version'],
      ['go', 'version'],
    ],
    prints: /^ok\s/m,
  },
  {
    name: 'java',
    file: 'ClientTest.java',
    command: [
      `javac -cp '${JUNIT}/*' -d classes ClientTest.java`,
      `java -cp 'classes:${JUNIT}/*' org.junit.platform.console.ConsoleLauncher --scan-classpath classes`,
    ].join(' && '),
    needs: [
      ['git', '--version'],
      ['javac', '-version'],
      ['test', '-e', `${JUNIT}/junit-jupiter-api.jar`],
    ],
    prints: /\b2 tests successful\b/,
  },
];

/** Returns the path of the example in the sources. */
export function exampleFile({ name, file }: Language): string {
  return join(ROOT, 'emulator', 'test', 'languages', name, file);
}

/** Returns the first command of `needs` that fails. Undefined if all required programs are installed. */
export function missingTool({ needs }: Language): string | undefined {
  const missing = needs.find(([program, ...args]) => spawnSync(program, args, { stdio: 'ignore' }).status !== 0);
  return missing?.join(' ');
}

/** Runs an example with an emulator in an empty folder. Returns undefined on success, otherwise the output. */
export async function runExample(language: Language, folder: string): Promise<string | undefined> {
  await cp(exampleFile(language), join(folder, language.file));
  const args = [join(ROOT, 'bin', 'emulator.js'), 'exec', '--log', 'quiet', '--', 'sh', '-ec', language.command];
  const env = { ...process.env, NO_PROXY: '*', GIT_CONFIG_NOSYSTEM: '1', PYTHONDONTWRITEBYTECODE: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env, maxBuffer: 2 ** 24 }, (error, out, err) => {
      const output = `${out}${err}`;
      resolve(error === null && language.prints.test(output) ? undefined : output || String(error));
    });
  });
}
