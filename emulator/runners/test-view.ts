import type { ConnectedNamespace, Namespace } from '../index.js';
import type { PlannedFault } from './sentences.js';

/** Namespace of a test, without the methods that close it, because the module of the test runner closes it. */
export type TestNamespace = Omit<Namespace, 'close' | typeof Symbol.asyncDispose>;

/** Object whose members forward to the namespace (isolated world of one emulator) of the running test. */
export interface TestEmulator extends TestNamespace {
  /**
   * Returns the namespace of one of several concurrent tests. `context`: the object that the test runner passes to the
   * function of that test.
   */
  of(context: object): TestNamespace;
}

/** Namespace of a test in an emulator in another process, without the methods that close it. */
export type ConnectedTestNamespace = Omit<ConnectedNamespace, 'close' | typeof Symbol.asyncDispose>;

/** Object whose members forward to the namespace of the running test, in an emulator in another process. */
export interface ConnectedTestEmulator extends ConnectedTestNamespace {
  /**
   * Returns the namespace of one of several concurrent tests. `context`: the object that the test runner passes to the
   * function of that test.
   */
  of(context: object): ConnectedTestNamespace;
}

/** Members of a namespace that the view of a test forwards to the namespace of that test. */
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
  'ca',
  'token',
  'remote',
  'env',
  'requests',
  'verify',
  'clock',
  'quotas',
  'state',
  'release',
  'scenario',
  'outbox',
  'export',
  'import',
  'repository',
  'namespace',
  'snapshot',
  'restore',
  'reset',
];

interface ViewedTest {
  readonly namespace: Namespace | ConnectedNamespace;
  readonly planned: PlannedFault[];
}

/**
 * Creates an object whose members forward to the namespace of a test. `find` returns that test and is called at each
 * use of a member, because the running test changes.
 */
export function viewOf(find: () => ViewedTest): TestNamespace & ConnectedTestNamespace {
  const view = {
    fault: (spec: Parameters<Namespace['fault']>[0]) => {
      const { namespace, planned } = find();
      const handle = namespace.fault(spec);
      const plan = <Handle extends PlannedFault['handle']>(added: Handle): Handle => {
        planned.push({ spec, handle: added });
        return added;
      };
      return 'then' in handle ? handle.then(plan) : plan(handle);
    },
  };
  for (const name of MEMBERS) {
    const get = (): unknown => Reflect.get(find().namespace, name);
    Object.defineProperty(view, name, { get, enumerable: true });
  }
  return view as unknown as TestNamespace & ConnectedTestNamespace;
}
