import root, { type Test } from 'tap';
import { callAdmin } from '../http/admin.js';
import { startTargetEmulator } from '../index.js';
import type { EmulatorProcess } from '../run/emulator-process.js';
import { type ReadyLine, readEmulatorTarget } from '../run/emulator-target.js';
import type { Target } from '../target/target.js';

/**
 * Options of a namespace (separate service in one emulator). They are the request body of `POST /_emulator/namespaces`.
 */
interface NamespaceOptions {
  readonly variants?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, number>>;
}

let started: Promise<EmulatorProcess> | undefined;

/**
 * Creates a namespace (separate service in one emulator), and removes it at the end of the test. All tests of this
 * process share one emulator. Another emulator would compile its code again, which takes about 5 s of CPU time for a
 * complete run.
 */
export async function startNamespace(t: Pick<Test, 'teardown'>, options: NamespaceOptions = {}): Promise<Target> {
  if (started === undefined) {
    started = startTargetEmulator();
    root.teardown(async () => (await started)?.close());
  }
  const { adminUrl } = (await started).target;
  const url = `${adminUrl}/namespaces`;
  const { status, text, json } = await callAdmin({ url, method: 'POST', json: options });
  if (status !== 201) throw new Error(`POST ${url} is ${status}: ${text}`);
  const ready = json as ReadyLine & { readonly id: string };
  t.teardown(() => callAdmin({ url: `${url}/${ready.id}`, method: 'DELETE' }));
  return readEmulatorTarget(ready);
}
