import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import vm from 'node:vm';
import { BUNDLED } from '../bundles.js';

/** V8 context that is separate from Node's main context. Test runners such as Jest run test files in such a context. */
export interface VmContext {
  /** Loads a file of `dist/bundle` in the context and returns its exports. */
  load(file: string): unknown;
  /** Evaluates an expression in the context. */
  evaluate(source: string): unknown;
}

/**
 * Creates a context like jest-environment-node 29. The context gets `global`, `Buffer`, and every global of Node's main
 * context that a new context lacks. Properties that Node adds to intrinsics of its main context, such as
 * `Symbol.dispose`, are missing.
 */
export function createVmContext(): VmContext {
  const context = vm.createContext();
  const inner = vm.runInContext('globalThis', context) as object;
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (Object.hasOwn(inner, name) || name === 'GLOBAL' || name === 'root') continue;
    Object.defineProperty(inner, name, { configurable: true, writable: true, value: Reflect.get(globalThis, name) });
  }
  Object.assign(inner, { global: inner });
  const files = new Map<string, { exports: unknown }>();
  const load = (path: string): unknown => {
    const loaded = files.get(path);
    if (loaded) return loaded.exports;
    const module = { exports: {} };
    files.set(path, module);
    const fromNode = createRequire(path);
    const fromFile = (name: string) => (name.startsWith('.') ? load(join(dirname(path), name)) : fromNode(name));
    const source = `(function (exports, require, module, __filename, __dirname) { ${readFileSync(path, 'utf8')}\n})`;
    const run = new vm.Script(source, { filename: path }).runInContext(context);
    run.call(module.exports, module.exports, fromFile, module, path, dirname(path));
    return module.exports;
  };
  return { load: (file) => load(join(BUNDLED, file)), evaluate: (source) => vm.runInContext(source, context) };
}
