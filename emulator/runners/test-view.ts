import type { Namespace } from '../index.js';
import type { PlannedFault } from './sentences.js';

/** Namespace as a test sees it. The runner closes it. */
export type TestNamespace = Omit<Namespace, 'close' | typeof Symbol.asyncDispose>;

/** View of the namespace of the running test. */
export interface TestEmulator extends TestNamespace {
  /** Returns the namespace of one of several concurrent tests, by the context that the runner passes to the test. */
  of(context: object): TestNamespace;
}

/** Members of a namespace that are forwarded. */
const MEMBERS: readonly (keyof TestNamespace | 'repository')[] = [
  'id',
  'org',
  'baseUrl',
  'gitUrl',
  'gitHost',
  'orgs',
  'keyId',
  'keyFile',
  'adminUrl',
  'token',
  'requests',
  'verify',
  'clock',
  'quotas',
  'state',
  'release',
  'repository',
  'namespace',
  'snapshot',
  'restore',
  'reset',
];

interface ViewedTest {
  readonly namespace: Namespace;
  readonly planned: PlannedFault[];
}

/** Creates a view of the namespace of the test that `find` returns, which is called at each use. */
export function viewOf(find: () => ViewedTest): TestNamespace {
  const view = {
    fault: (spec: Parameters<Namespace['fault']>[0]) => {
      const { namespace, planned } = find();
      const handle = namespace.fault(spec);
      planned.push({ spec, handle });
      return handle;
    },
  };
  for (const name of MEMBERS) {
    const get = (): unknown => Reflect.get(find().namespace, name);
    Object.defineProperty(view, name, { get, enumerable: true });
  }
  return view as unknown as TestNamespace;
}
