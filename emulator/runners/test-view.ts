import type { Namespace } from '../index.js';
import type { PlannedFault } from './sentences.js';

/** What a test sees of its namespace, which is closed for it. */
export type TestNamespace = Omit<Namespace, 'close' | typeof Symbol.asyncDispose>;

/** Stands for the namespace of the test that is running. */
export interface TestEmulator extends TestNamespace {
  /**
   * The namespace of one test, where several of the file run at the same time: by the context that the runner gives it.
   */
  of(context: object): TestNamespace;
}

/** The members of a namespace that are passed on. */
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

/** The namespace of the test that `find` finds, at the time of each use. */
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
